import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SecurityPolicies, type SecurityPolicy } from '../src/tool-policy/index.js';
import type { SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PolicyTools } from './support/policy.tool.js';
import { WRITERS } from './support/protocol-writer.js';
import { callOf, decisionsIn, resultsIn } from './support/waiting-run.js';

const CARD = '4111 1111 1111 1111';
const MAIL = 'ann@secret.example';
const PROTOCOLS = ['native', 'react', 'xml'] as const;

let llm: FakeLlm;
let jackdaw: Jackdaw;
let sessions = 0;

beforeAll(async () => {
  llm = await FakeLlm.start();
  const agents = PROTOCOLS.map((protocol) => ({ name: protocol, protocol, model: { provider: 'openai' } }));
  const env = { LOG_LEVEL: 'trace' };
  jackdaw = await startJackdaw({ llm, env, tools: [new PolicyTools()], options: { agents, builtinTools: false } });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function rule(content: SecurityPolicy['content']): Promise<void> {
  return jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], ...(content && { content }) });
}

async function ask(query: string, more: object = {}): Promise<{ body: Record<string, unknown>; events: SseEvent[] }> {
  const { body } = await jackdaw.chat({ query, sessionId: `s${++sessions}`, ...more });
  return { body, events: await jackdaw.events(String(body['run_id'])) };
}

/** Whether the database files or the log contain the text. */
function isStored(text: string): boolean {
  const files = readdirSync(jackdaw.dataDir).map((name) => readFileSync(join(jackdaw.dataDir, name)));
  return files.some((file) => file.includes(text)) || JSON.stringify(jackdaw.log).includes(text);
}

describe('user input', () => {
  it('is masked before it is stored, and the run reports the masking once', async () => {
    await rule({ cards: { input: 'mask' }, emails: { input: 'mask' } });
    llm.reply({ text: 'hi' });
    const { body, events } = await ask(`my card is 5555 5555 5555 4444, write to masked@input.example`);
    expect(llm.lastRequest.messages.at(-1)?.content).toBe('my card is [cards], write to [emails]');
    expect(decisionsIn(events)).toEqual([
      {
        policy: 'content',
        on: 'input',
        decision: 'masked',
        iteration: 0,
        reason: 'it holds cards, emails',
        found: ['cards', 'emails'],
      },
    ]);
    expect(await jackdaw.messages(String(body['session_id']))).toMatchObject([
      { content: 'my card is [cards], write to [emails]' },
      {},
    ]);
    expect([isStored('5555 5555 5555 4444'), isStored('masked@input.example')]).toEqual([false, false]);
  });

  it.each(['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'])(
    'is refused with 422 before any model call: %s',
    async (path) => {
      await rule({ cards: { input: 'block' } });
      const { status, body } = await jackdaw.post(path, { query: `pay with 3782 822463 10005` });
      expect([status, body['code'], body['found']]).toEqual([422, 'INPUT_BLOCKED', ['cards']]);
      expect(body['detail']).toMatch(/holds cards/);
      expect([llm.requests.length, isStored('822463 10005')]).toEqual([0, false]);
    },
  );

  it('is refused in the edited message of a fork, too', async () => {
    await rule({ cards: { input: 'block' } });
    llm.reply({ text: 'hi' });
    const { body } = await ask('hello');
    const edit = { fromStep: 'model:1', edit: { message: `card ${CARD}` } };
    expect((await jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, edit)).status).toBe(422);
  });
});

describe('a tool result', () => {
  it('is masked for the model, the events and the journal, at every place in the result', async () => {
    await rule({ cards: { results: 'mask' }, emails: { results: 'mask' } });
    const args = { 'a@key.example': [`x ${CARD}`, { deep: MAIL, n: 5 }] };
    llm.reply({ calls: [{ id: 'c', name: 'value', arguments: args }] }, { text: 'done' });
    const { events } = await ask('go');
    expect(resultsIn(events)['c']).toEqual({ '[emails]': ['x [cards]', { deep: '[emails]', n: 5 }] });
    expect(llm.lastRequest.messages.at(-1)?.content).toBe('{"[emails]":["x [cards]",{"deep":"[emails]","n":5}]}');
    expect(decisionsIn(events)).toMatchObject([
      { policy: 'content', on: 'result', decision: 'masked', call_id: 'c', tool: 'value', found: ['emails', 'cards'] },
    ]);
  });

  it('is withheld with an error that gives the reason, and so is an error text', async () => {
    await rule({ cards: { results: 'block' } });
    const [result, failure] = [callOf('repeat', { text: CARD }), callOf('fail', { text: `no ${CARD}` })];
    llm.reply(
      {
        calls: [
          { ...result, id: 'a' },
          { ...failure, id: 'b' },
        ],
      },
      { text: 'done' },
    );
    const { events } = await ask('go');
    const withheld = [
      'TOOL_RESULT_BLOCKED',
      expect.stringMatching(/was made, but its result is withheld: it holds cards/),
    ];
    expect(resultsIn(events)).toEqual({ a: withheld, b: withheld });
    expect(decisionsIn(events)).toMatchObject([{ decision: 'blocked' }, { decision: 'blocked' }]);
  });
});

describe.each(PROTOCOLS)('model output (%s)', (protocol) => {
  const writer = WRITERS[protocol];
  const published = (events: readonly SseEvent[]) =>
    events.flatMap(({ event, data }) => (event === 'message.delta' ? [String(data['text'])] : [])).join('');

  it('is masked in the answer, the thoughts, the stream and the session', async () => {
    await rule({ cards: { output: 'mask' } });
    const card = { native: '6011 1111 1111 1117', react: '3530 1113 3330 0000', xml: '6200 0000 0000 0005' }[protocol];
    llm.reply(writer.answer(`Your card is ${card}, is it not?`));
    const stream = await jackdaw.stream({ query: 'go', agent: protocol, sessionId: `s${++sessions}` });
    const events = await stream.all();
    const said = 'Your card is [cards], is it not?';
    expect([published(events), events.at(-1)?.data['result']]).toEqual([said, said]);
    expect(await jackdaw.messages(`s${sessions}`)).toMatchObject([{}, { content: said }]);
    expect(decisionsIn(events)).toMatchObject([{ policy: 'content', on: 'output', decision: 'masked', iteration: 1 }]);
    expect([JSON.stringify(events).includes(card), isStored(card)]).toEqual([false, false]);
  });

  it('is withheld as a whole: no part was streamed, and the run reports the reason', async () => {
    await rule({ cards: { output: 'block' } });
    llm.reply(writer.answer(`A long start that is harmless by itself. ${CARD}`));
    const stream = await jackdaw.stream({ query: 'go', agent: protocol, sessionId: `s${++sessions}` });
    const events = await stream.all();
    const notice = 'The answer is withheld: it holds cards.';
    expect(published(events)).toBe(notice);
    expect(events.at(-1)?.data).toMatchObject({
      type: 'run.completed',
      finish_reason: 'content_filter',
      is_complete: false,
      result: notice,
    });
    expect(decisionsIn(events)).toMatchObject([
      { policy: 'content', on: 'output', decision: 'blocked', found: ['cards'] },
    ]);
    expect(JSON.stringify(events)).not.toContain('harmless');
    expect(await jackdaw.messages(`s${sessions}`)).toMatchObject([{}, { content: notice }]);
  });

  it('may pass masked values to tools', async () => {
    await rule({ emails: { output: 'mask' } });
    llm.reply(writer.calls({ name: 'repeat', arguments: { text: MAIL } }), writer.answer('done'));
    const { events } = await ask('go', { agent: protocol });
    expect(Object.values(resultsIn(events))).toEqual([MAIL]);
  });

  it('is streamed immediately if no pattern applies', async () => {
    await rule(undefined);
    llm.reply(writer.answer(`Your card is ${CARD}.`));
    const events = await (await jackdaw.stream({ query: 'go', agent: protocol })).all();
    expect([published(events), decisionsIn(events)]).toEqual([`Your card is ${CARD}.`, []]);
  });
});

describe('reasoning text', () => {
  it('is masked, and an answer is withheld if its reasoning text is blocked', async () => {
    await rule({ cards: { output: 'mask' }, emails: { output: 'block' } });
    llm.reply({ reasoning: `the card ${CARD}`, text: 'hello' }, { reasoning: `by ${MAIL}`, text: 'hello' });
    const masked = await ask('go', { agent: 'native' });
    expect(masked.events.find(({ event }) => event === 'thought')?.data['text']).toBe('the card [cards]');
    expect((await ask('go', { agent: 'native' })).body['finish_reason']).toBe('content_filter');
  });
});

describe('custom patterns', () => {
  it('are masked under their names', async () => {
    await rule({ patterns: [{ name: 'order', pattern: 'ORD-\\d{6}', output: 'mask' }] });
    llm.reply({ text: 'see ORD-123456' });
    expect((await ask('go', { agent: 'native' })).body['result']).toBe('see [order]');
  });
});
