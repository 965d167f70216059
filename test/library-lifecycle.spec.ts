import { afterEach, describe, expect, it } from 'vitest';
import type { Agent, RunNotice } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { PacedChatModel } from './support/paced-chat-model.js';
import { calls, says } from './support/scripted-chat-model.js';

const host = new AgentHost();
afterEach(() => host.stop());

/** Collects the types of recorded run events. */
class Heard {
  readonly types: string[] = [];
  private readonly waiting = new Map<string, PromiseWithResolvers<string>>();

  readonly listener = ({ runId, event }: RunNotice): void => {
    this.types.push(event.type);
    this.wait(event.type).resolve(runId);
  };

  /** Resolves with the id of the first run that records an event of this type. */
  event(type: string): Promise<string> {
    return this.wait(type).promise;
  }

  private wait(type: string): PromiseWithResolvers<string> {
    let waiting = this.waiting.get(type);
    if (!waiting) this.waiting.set(type, (waiting = Promise.withResolvers<string>()));
    return waiting;
  }
}

/** A tool that counts its calls; they end when the test releases them, and ignore their signal. */
class Till {
  count = 0;
  readonly called = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();

  constructor(agent: Agent, name = 'pay') {
    agent.registerTool({
      name,
      description: 'Pays.',
      parameters: { type: 'object', properties: {} },
      handler: async () => {
        this.count++;
        this.called.resolve();
        await this.released.promise;
        return `paid by ${name}`;
      },
    });
  }
}

const PAY = [{ id: 'call_1', name: 'pay', arguments: '{}' }];

async function streaming() {
  const model = new PacedChatModel();
  const heard = new Heard();
  const agent = await host.start({ chatModel: model, telemetry: heard.listener });
  const till = new Till(agent);
  till.released.resolve();
  return { agent, model, heard, till };
}

type Pieces = AsyncGenerator<string>;

async function throwInLoop(pieces: Pieces): Promise<void> {
  for await (const _ of pieces) throw new Error('mine');
}

const EXITS: readonly [string, (pieces: Pieces) => Promise<void>][] = [
  [
    'break',
    async (pieces) => {
      for await (const _ of pieces) break;
    },
  ],
  ['an error of the loop', (pieces) => expect(throwInLoop(pieces)).rejects.toThrow('mine')],
  [
    'return',
    async (pieces) => {
      await pieces.next();
      expect(await pieces.return(undefined)).toEqual({ done: true, value: undefined });
      expect(await pieces.next()).toEqual({ done: true, value: undefined });
    },
  ],
  [
    'throw',
    async (pieces) => {
      await pieces.next();
      await expect(pieces.throw(new Error('mine'))).rejects.toThrow('mine');
    },
  ],
  [
    'return while a piece is awaited',
    async (pieces) => {
      await pieces.next();
      const next = pieces.next();
      await pieces.return(undefined);
      expect(await next).toEqual({ done: true, value: undefined });
    },
  ],
  [
    'disposal',
    async (pieces) => {
      await pieces.next();
      await pieces[Symbol.asyncDispose]();
    },
  ],
];

describe('the iterator of chatStream', () => {
  it.each(EXITS)('cancels the run when it is left by %s: no tool is called afterwards', async (_exit, exit) => {
    const { agent, model, heard, till } = await streaming();
    const replied = model.next().then((reply) => (reply.say('I shall pay.'), reply));
    await exit(agent.chatStream('Buy.'));
    (await replied).finish(PAY);
    await heard.event('run.cancelled');
    await agent.close();
    expect(till.count).toBe(0);
    expect(heard.types).not.toContain('tool.started');
  });

  it('cancels a run of a session before its first text', async () => {
    const { agent, model, heard, till } = await streaming();
    const pieces = agent.session('s').chatStream('Buy.');
    const next = pieces.next();
    // This model ignores its abort signal and never answers.
    await model.next();
    await pieces.return(undefined);
    await heard.event('run.cancelled');
    expect([await next, till.count]).toEqual([{ done: true, value: undefined }, 0]);
  });

  it('cancels a run that is queued for its session', async () => {
    const { agent, model, heard } = await streaming();
    const first = agent.session('s').chatStream('First.');
    const firstPiece = first.next();
    const reply = await model.next();
    const second = agent.session('s').chatStream('Second.');
    const secondPiece = second.next();
    await second.return(undefined);
    await heard.event('run.cancelled');
    reply.say('Done.');
    reply.finish();
    expect([await firstPiece, await secondPiece]).toEqual([
      { done: false, value: 'Done.' },
      { done: true, value: undefined },
    ]);
    expect(await first.next()).toEqual({ done: true, value: undefined });
    expect(heard.types.filter((type) => type === 'run.started')).toHaveLength(1);
  });

  it('continues the run when the caller leaves it with onLeave: continue', async () => {
    const { agent, model, heard, till } = await streaming();
    const replied = model.next().then((reply) => (reply.say('I shall pay.'), reply));
    for await (const _ of agent.chatStream('Buy.', { onLeave: 'continue' })) break;
    (await replied).finish(PAY);
    const last = await model.next();
    last.say('Paid.');
    last.finish();
    await heard.event('run.completed');
    expect(till.count).toBe(1);
  });

  it('cancels nothing after the end of its run or while the run waits for a decision', async () => {
    const heard = new Heard();
    const agent = await host.start({ telemetry: heard.listener, approvals: ['pay'] }, [
      says('Hello.'),
      calls(['pay', {}]),
    ]);
    const till = new Till(agent);
    const whole = agent.chatStream('Hello.');
    for await (const piece of whole) expect(piece).not.toBe('');
    await whole.return(undefined);
    const waiting = agent.chatStream('Buy.');
    await expect(waiting.next()).rejects.toMatchObject({ code: 'RUN_WAITING' });
    await waiting.return(undefined);
    expect(heard.types).not.toContain('run.cancelled');
    expect(till.count).toBe(0);
  });

  it('starts no run if it is left before its first read', async () => {
    const { agent, heard } = await streaming();
    await agent.chatStream('Buy.').return(undefined);
    await agent.close();
    expect(heard.types).toEqual([]);
  });

  it('refuses another onLeave', async () => {
    const { agent } = await streaming();
    const onLeave = 'stop' as 'cancel';
    expect(() => agent.chatStream('Buy.', { onLeave })).toThrow('onLeave must be "cancel" or "continue"');
  });
});

describe('closing an agent', () => {
  it('does not wait for a run that its caller left: close resolves during the tool call', async () => {
    const model = new PacedChatModel();
    const heard = new Heard();
    const agent = await host.start({ chatModel: model, telemetry: heard.listener });
    const till = new Till(agent);
    const replied = model.next().then((reply) => (reply.say('I shall pay.'), reply.finish(PAY)));
    const pieces = agent.chatStream('Buy.');
    await pieces.next();
    await replied;
    await till.called.promise;
    await pieces.return(undefined);
    await heard.event('run.cancelled');
    await agent.close();
    till.released.resolve();
    expect(till.count).toBe(1);
  });

  it('returns one promise for all callers and a clear error for later requests', async () => {
    const agent = await host.start({}, [says('Hello.')]);
    const session = await agent.createSession({ id: 's' });
    const closing = agent.close();
    expect(agent.close()).toBe(closing);
    await expect(agent.chat('x')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await closing;
    expect(agent.close()).toBe(closing);
    const closed = { code: 'SHUTTING_DOWN', message: expect.stringContaining('closed') };
    await expect(agent.chat('x')).rejects.toMatchObject(closed);
    await expect(agent.chatStream('x').next()).rejects.toMatchObject(closed);
    await expect(agent.callTool('x')).rejects.toMatchObject(closed);
    await expect(session.turns()).rejects.toMatchObject(closed);
    await expect(agent.sessions.list()).rejects.toMatchObject(closed);
    expect(() => agent.hasTool('x')).toThrow('The agent is closed');
  });
});
