import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import type { CreateAgentOptions, MemoryConversation, RunEvent, RunMemory, SessionMessage } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { gate } from './support/jackdaw.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

Logger.overrideLogger(false);
const host = new AgentHost();
afterEach(() => host.stop());

const seen = (model: ScriptedChatModel, at: number) => model.requests[at]!.messages.map(({ content }) => content);

/** Contexts of the last two messages, and of a note. */
class NotingMemory implements RunMemory {
  static contexts = 0;
  readonly messages: SessionMessage[] = [];
  questions: unknown[] = [];

  async addMessage(message: SessionMessage): Promise<void> {
    this.messages.push(message);
  }
  async getContext(_maxTokens?: number, question?: SessionMessage): Promise<SessionMessage[]> {
    this.questions.push(question?.content);
    return [{ role: 'system', content: `note ${++NotingMemory.contexts}` }, ...this.messages.slice(-2)];
  }
}

describe('the option memories', () => {
  const opened: { conversation: MemoryConversation; memory: NotingMemory }[] = [];
  beforeEach(() => {
    opened.length = 0;
    NotingMemory.contexts = 0;
  });
  const notes = {
    open: (conversation: MemoryConversation) => {
      const memory = new NotingMemory();
      opened.push({ conversation, memory });
      return memory;
    },
  };
  const memory = { policy: 'notes' };

  it('provide the context of each run, and receive each message once', async () => {
    const model = new ScriptedChatModel([says('A1'), says('A2'), says('A3')]);
    const agent = await host.start({ chatModel: model, memory, memories: { notes } });
    for (const n of [1, 2, 3]) await agent.chat(`Q${n}`, { sessionId: 's' });
    expect(seen(model, 0)).toEqual(expect.arrayContaining(['note 1', 'Q1']));
    expect(seen(model, 2)).toEqual(expect.arrayContaining(['note 3', 'Q2', 'A2', 'Q3']));
    expect(seen(model, 2)).not.toContain('Q1');
    expect(opened).toHaveLength(1);
    const [{ conversation, memory: noting }] = opened as [(typeof opened)[number]];
    expect(conversation).toEqual({ sessionId: 's', tenant: 'default', userId: 'local', name: 'notes' });
    expect(noting.messages.map(({ content }) => content)).toEqual(['Q1', 'A1', 'Q2', 'A2']);
    expect(noting.questions).toEqual(['Q1', 'Q2', 'Q3']);
  });

  it('are opened again after a change of the session', async () => {
    const agent = await host.start({ memory, memories: { notes } }, [says('A1'), says('A2')]);
    await agent.chat('Q1', { sessionId: 's' });
    await agent.sessions.delete('s');
    await agent.chat('Q2', { sessionId: 's' });
    expect(opened.at(-1)!.memory.messages).toEqual([]);
  });

  it('give a resumed run the recorded context', async () => {
    const model = new ScriptedChatModel([calls(['pay', {}]), says('Paid.')]);
    const agent = await host.start({ chatModel: model, memory, memories: { notes }, approvals: ['pay'] });
    agent.registerTool({ name: 'pay', description: 'Pays.', handler: () => 'ok' });
    const { runId } = await agent.chat('Pay.', { sessionId: 's' });
    NotingMemory.contexts = 40;
    await agent.approve(runId);
    expect(seen(model, 1)).toContain('note 1');
  });

  it.each([
    [undefined, ['private', 'untrusted']],
    [true, []],
  ])(
    'make a run private and untrusted unless they hold content of the session only: %s',
    async (isOfSession, facts) => {
      const events: RunEvent[] = [];
      const own = { ...notes, ...(isOfSession !== undefined && { isOfSession }) };
      const agent = await host.start({ memory, memories: { notes: own } }, [says('A1')]);
      await agent.stream('Q1', (event) => void events.push(event), { sessionId: 's' });
      const end = events.find(({ type }) => type === 'run.completed') as
        { data_facts?: { fact: string }[] } | undefined;
      expect((end?.data_facts ?? []).map(({ fact }) => fact).toSorted()).toEqual(facts);
    },
  );

  it('fail a run that they give no context, and are opened again by the next', async () => {
    const contexts: (() => unknown)[] = [
      () => Promise.reject(new Error('index lost')),
      () => 'no list',
      () => [{ role: 'user' }],
      () => [],
    ];
    const own = {
      open: () => ({
        addMessage: async () => undefined,
        getContext: async () => contexts.shift()!() as SessionMessage[],
      }),
    };
    const agent = await host.start({ memory, memories: { notes: own } }, [says('A1')]);
    for (const fault of ['index lost', 'no list', 'content'])
      await expect(agent.chat('Q', { sessionId: 's' })).rejects.toMatchObject({
        code: 'MEMORY_FAILED',
        message: expect.stringContaining(fault),
      });
    expect((await agent.chat('Q', { sessionId: 's' })).content).toBe('A1');
  });

  it('do not delay the cancel of a run, and serve the next one', async () => {
    const { opened: asked, open: ask } = gate();
    let isHanging = true;
    const own = {
      open: () => ({
        addMessage: async () => undefined,
        getContext: async () => {
          ask();
          return isHanging ? new Promise<SessionMessage[]>(() => undefined) : [];
        },
      }),
    };
    const model = new ScriptedChatModel([says('A1')]);
    const agent = await host.start({ chatModel: model, memory, memories: { notes: own } });
    const ends: string[] = [];
    agent.on('run.*', ({ event }) => void ends.push(event.type));
    const stream = agent.chatStream('Q', { sessionId: 's' });
    const first = stream.next();
    await asked;
    await Promise.all([stream.return(), first.catch(() => undefined)]);
    isHanging = false;
    expect((await agent.chat('Q', { sessionId: 's' })).content).toBe('A1');
    expect(ends).toContain('run.cancelled');
    expect(model.requests).toHaveLength(1);
  });

  it('are refused without a function, with the name of a policy, and by an agent that names an unknown one', async () => {
    const message = (text: string) => ({ message: expect.stringContaining(text) });
    const start = (memories: object, policy = 'notes') =>
      host.start({ memory: { policy }, memories } as CreateAgentOptions, []);
    await expect(start({ notes: {} })).rejects.toMatchObject(message('memories.notes has no function `open`'));
    await expect(start({ notes: { ...notes, ttl: 1 } })).rejects.toMatchObject(message('unknown field "ttl"'));
    await expect(start({ lru: notes }, 'lru')).rejects.toMatchObject(message('"lru" already'));
    await expect(start({ notes }, 'zep')).rejects.toMatchObject(message('There is no memory policy "zep"'));
  });
});
