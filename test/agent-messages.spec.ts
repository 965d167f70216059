import { afterEach, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { gate } from './support/jackdaw.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const host = new AgentHost();
afterEach(() => host.stop());

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const seen = (model: ScriptedChatModel, at: number) => model.requests[at]!.messages.map(({ content }) => content);

describe('the session of an agent in code', () => {
  it('is continued by calls that name no other', async () => {
    const model = new ScriptedChatModel([says('Hello Ann.'), says('Ann.'), says('Hm.'), says('No.')]);
    const agent = await host.start({ chatModel: model });
    const first = await agent.chat('I am Ann.');
    expect(first.sessionId).toBe(agent.sessionId);
    let text = '';
    for await (const piece of agent.chatStream('Who am I?')) text += piece;
    expect(text).toBe('Ann.');
    expect(seen(model, 1)).toEqual(expect.arrayContaining(['I am Ann.', 'Hello Ann.', 'Who am I?']));
    await agent.stream('And now?', () => undefined);
    expect((await agent.session(agent.sessionId).turns()).length).toBe(3);

    const other = await agent.chat('Who am I?', { newSession: true });
    expect(other.sessionId).not.toBe(agent.sessionId);
    expect(seen(model, 3)).not.toContain('I am Ann.');
  });

  it('queues its calls in order', async () => {
    const { opened, open } = gate();
    const order: string[] = [];
    const model = new ScriptedChatModel([
      async () => {
        await opened;
        order.push('first');
        return says('One.');
      },
      async () => {
        order.push('second');
        return says('Two.');
      },
    ]);
    const agent = await host.start({ chatModel: model });
    const replies = [agent.chat('First?'), agent.chat('Second?')];
    open();
    expect((await Promise.all(replies)).map(({ content }) => content)).toEqual(['One.', 'Two.']);
    expect(order).toEqual(['first', 'second']);
    expect(seen(model, 1)).toContain('One.');
  });

  it('differs between two agents', async () => {
    const agents = [await host.start({}, [says('a')]), await host.start({}, [says('b')])];
    expect(agents[0]!.sessionId).not.toBe(agents[1]!.sessionId);
  });

  it('excludes a new one', async () => {
    const agent = await host.start({}, []);
    const both = agent.chat('x', { sessionId: 'mine', newSession: true });
    await expect(both).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringContaining('excludes'),
    });
  });
});

describe('a message of an agent in code', () => {
  it.each<[ChatMessage]>([
    ['Look.'],
    [[{ type: 'text', text: 'Look.' }]],
    [{ role: 'user', content: 'Look.' }],
    [{ role: 'user', content: [{ type: 'text', text: 'Look.' }] }],
  ])('is text, parts or an object: %j', async (message) => {
    const model = new ScriptedChatModel([says('Fine.')]);
    const agent = await host.start({ chatModel: model });
    await agent.chat(message);
    expect(model.requests[0]!.messages.at(-1)).toMatchObject({ role: 'user', content: 'Look.' });
  });

  it('contains images', async () => {
    const model = new ScriptedChatModel([says('A pixel.')]);
    Object.assign(model.capabilities, { vision: true });
    const agent = await host.start({ chatModel: model });
    await agent.chat([
      { type: 'text', text: 'Which' },
      { type: 'image', url: PIXEL },
      { type: 'text', text: 'colour?' },
    ]);
    expect(JSON.stringify(model.requests[0]!.messages.at(-1))).toContain('Which\\ncolour?');
    expect(JSON.stringify(model.requests[0]!.messages.at(-1))).toContain(PIXEL);
  });

  it.each<[unknown, string]>([
    [{ role: 'system', content: 'x' }, 'message.role must be "user"'],
    [[{ type: 'image_url', image_url: { url: PIXEL } }], 'message.0 must be { type: "text", text } or'],
    [{ role: 'user' }, 'message must be a text, parts, or'],
    [7, 'message must be a text, parts, or'],
  ])('is refused if it is %j', async (message, problem) => {
    const agent = await host.start({}, []);
    await expect(agent.chat(message as ChatMessage)).rejects.toThrow(problem);
  });
});
