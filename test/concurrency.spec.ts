import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { type LocalRunHub, RunBus } from '../src/run/follow/run-bus.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { gate, startJackdaw, type Answer, type Jackdaw } from './support/jackdaw.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    env: { AGENT_MEMORY_MAX_MESSAGES: '1000', AGENT_MEMORY_MAX_CONTEXT_TOKENS: '100000' },
  });
});
afterEach(async () => {
  await expectNothingLeft();
  llm.reset();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

/** A model that calls the calculator once, then answers with the last question. */
function viaTool({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1)!;
  if (last.role === 'user') return { calls: [{ name: 'calculator', arguments: { expression: '1 + 1' } }] };
  return { text: `re: ${queries({ messages }).at(-1)}` };
}

function queries({ messages }: Pick<FakeRequest, 'messages'>): string[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
}

interface StoredMessage {
  readonly turn: number;
  readonly run_id: string;
  readonly role: string;
  readonly content: string;
}

/** A session's messages, grouped by turn. */
async function turnsOf(sessionId: string): Promise<StoredMessage[][]> {
  const { body } = await jackdaw.get(`/api/sessions/${sessionId}/messages?limit=200`);
  const messages = body['messages'] as unknown as StoredMessage[];
  return [...Map.groupBy(messages, ({ turn }) => turn).values()];
}

/** Waits until the journal contains this number of runs of a session. */
async function journaled(sessionId: string, runs: number): Promise<string[]> {
  const database = jackdaw.app.get(Database, { strict: false });
  const select = 'SELECT id FROM run WHERE session_id = ? ORDER BY created_at, id';
  for (;;) {
    const rows = await database.query<{ id: string }>(select, [sessionId]);
    if (rows.length >= runs) return rows.map(({ id }) => id);
    await jackdaw.get('/api/health/live');
  }
}

/** Expects no open run, no occupied session, no subscription and no turn without the end of its run. */
async function expectNothingLeft(): Promise<void> {
  const database = jackdaw.app.get(Database, { strict: false });
  const open = `SELECT id, status FROM run WHERE session_slot IS NOT NULL OR status NOT IN ('completed', 'failed', 'cancelled')`;
  expect(await database.query(open)).toEqual([]);
  const bus = jackdaw.app.get<RunBus, { hub: LocalRunHub }>(RunBus, { strict: false });
  expect(bus.hub.listeners.size).toBe(0);
}

describe('two concurrent chats in one session', () => {
  it('run in order of arrival, and the second model request contains the whole first turn', async () => {
    const first = gate();
    llm.reply({ gate: first.opened, calls: [{ name: 'calculator', arguments: { expression: '2 + 3' } }] });
    llm.reply({ text: 'five' }, { text: 'and six' });
    const one = jackdaw.chat({ query: 'one', sessionId: 'two' });
    await llm.waitForRequest();
    const two = jackdaw.chat({ query: 'two', sessionId: 'two' });
    await journaled('two', 2);
    expect(llm.requests).toHaveLength(1);
    first.open();

    expect((await one).body).toMatchObject({ result: 'five' });
    expect((await two).body).toMatchObject({ result: 'and six' });
    expect(llm.requests[2]!.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(llm.requests[2]!.messages.slice(3).map(({ content }) => content)).toEqual(['5', 'five', 'two']);
    const turns = await turnsOf('two');
    expect(turns.map((turn) => turn.map(({ content }) => content))).toEqual([
      ['one', '', '5', 'five'],
      ['two', 'and six'],
    ]);
  });
});

describe('fifty concurrent chats in fifty sessions', () => {
  it('each get their own answer and store their own turn', async () => {
    llm.always(viaTool);
    const names = Array.from({ length: 50 }, (_, i) => `session-${i}`);
    const answers = await Promise.all(names.map((name) => jackdaw.chat({ query: `ask ${name}`, sessionId: name })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(answers.map(({ body }) => body['result'])).toEqual(names.map((name) => `re: ask ${name}`));
    for (const name of names) {
      const turns = await turnsOf(name);
      expect(turns.map((turn) => turn.map(({ content }) => content))).toEqual([
        [`ask ${name}`, '', '2', `re: ask ${name}`],
      ]);
    }
    expect(llm.requests).toHaveLength(100);
  });
});

describe('twenty concurrent chats in one session', () => {
  /** Expects that each model request contains the questions of the finished turns in this order. */
  function expectOrder(sessionQueries: readonly string[]): void {
    for (const request of llm.requests) {
      const seen = queries(request);
      expect(seen).toEqual(sessionQueries.slice(0, seen.length));
    }
  }

  it('run in order of arrival, in whole turns', async () => {
    llm.always(viaTool);
    const hold = gate();
    llm.reply({ gate: hold.opened, text: 'opened' });
    const sent: Promise<Answer>[] = [];
    const asked = Array.from({ length: 20 }, (_, i) => `question ${i}`);
    for (const [i, query] of asked.entries()) {
      sent.push(jackdaw.chat({ query, sessionId: 'twenty' }));
      await journaled('twenty', i + 1);
    }
    hold.open();
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));
    const turns = await turnsOf('twenty');
    expect(turns.map(([first]) => first!.content)).toEqual(asked);
    expect(turns.map((turn) => turn.length)).toEqual([2, ...asked.slice(1).map(() => 4)]);
    expect(turns.map((turn) => new Set(turn.map(({ run_id }) => run_id)).size)).toEqual(asked.map(() => 1));
    expectOrder(asked);
  });

  it('are all answered despite cancels, and a cancelled chat leaves a whole turn or none', async () => {
    llm.always(viaTool);
    const hold = gate();
    llm.reply({ gate: hold.opened, text: 'opened' });
    const asked = Array.from({ length: 20 }, (_, i) => `question ${i}`);
    const sent = asked.map((query) => jackdaw.chat({ query, sessionId: 'cancels' }));
    const ids = await journaled('cancels', 20);
    const every3rd = ids.filter((_, i) => i % 3 === 0);
    hold.open();
    const cancels = await Promise.all(every3rd.map((id) => jackdaw.post(`/api/runs/${id}/cancel`)));
    expect(cancels.map(({ status }) => status).filter((status) => status !== 202 && status !== 409)).toEqual([]);
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));

    const turns = await turnsOf('cancels');
    const byRun = new Map(turns.map((turn) => [turn[0]!.run_id, turn]));
    for (const { body } of answers as { body: { run_id?: string; session_id?: string; finish_reason?: string } }[]) {
      expect(body.session_id).toBe('cancels');
      const turn = byRun.get(body.run_id!);
      const isCancelled = body.finish_reason === 'cancelled';
      expect(turn?.at(-1)?.role).toBe(isCancelled ? turn?.at(-1)?.role : 'assistant');
      expectWhole(turn ?? []);
    }
    expectOrder(turns.map(([first]) => first!.content));
  });
});

/** Expects that a turn starts with its question and that each call has its result. */
function expectWhole(turn: readonly StoredMessage[]): void {
  const calls = turn.flatMap((message) => (message as { tool_calls?: { id: string }[] }).tool_calls ?? []);
  const results = turn.filter(({ role }) => role === 'tool') as (StoredMessage & { tool_call_id?: string })[];
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
  expect(turn.map(({ role }) => role === 'user')).toEqual(turn.map((_, i) => i === 0));
}
