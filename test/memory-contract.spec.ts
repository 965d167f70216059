import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { countMessages } from '../src/llm/index.js';
import { EstimatedTokenCounter } from '../src/llm/tokens/token-counter.registry.js';
import { NO_USAGE } from '../src/run/event/index.js';
import { PINNED, type SessionMessage, type SessionService, type Turn } from '../src/session/index.js';
import { countTurn, type MemoryRules, type SessionMemory, type Summarise } from '../src/session/memory/index.js';
import type { TurnStore } from '../src/session/turns/turn-store.js';
import { ALICE, openDatabase, type OpenDatabase } from './support/run-host.js';
import { neverSummarise, RULES, sessionsOn } from './support/session-host.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
const servers = await testServers();
const KEY = { tenant: ALICE.tenant, id: 's' };

const counter = new EstimatedTokenCounter();
const count = (messages: readonly SessionMessage[]) => countMessages(counter, messages);

/** A turn with this number of messages and tokens. */
function turn(n: number, { messages = 2, tokens = 10 } = {}): Turn {
  return {
    runId: `run-${n}`,
    status: 'completed',
    messages: Array.from({ length: messages }, (_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: `${n}.${i}`,
    })),
    tokens,
    plainTokens: tokens,
  };
}

/** A turn with the token count of its messages. */
function saying(n: number, ...said: readonly SessionMessage[]): Turn {
  const messages: SessionMessage[] = [{ role: 'user', content: `${n}.0` }, ...said];
  return { runId: `run-${n}`, status: 'completed', messages, ...countTurn(counter, messages) };
}

const TURNS_A_BATCH = 500;

describeDatabases('the session memory', servers, (created) => {
  let opened: OpenDatabase;
  let sessions: SessionService;
  let memory: SessionMemory;
  let turns: TurnStore;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    ({ sessions, memory, turns } = sessionsOn(opened.database));
  });
  beforeEach(() => clear());
  afterAll(() => opened.close());

  const clear = () =>
    opened.database.commit(
      ['session', 'session_turn', 'session_summary'].map((table) => ({ sql: `DELETE FROM ${table}`, params: [] })),
    );
  const fill = async (all: readonly Turn[]) => {
    await opened.database.commit([sessions.beginStatement(ALICE, 's')]);
    const statements = all.map((one, at) => sessions.turnStatements(ALICE, 's', at, one));
    // A single batch of all statements can exceed the answer time limit of MariaDB.
    for (let at = 0; at < statements.length; at += TURNS_A_BATCH)
      await opened.database.commit(statements.slice(at, at + TURNS_A_BATCH).flat());
  };
  const fillPlain = (length: number) => fill(Array.from({ length }, (_, at) => turn(at + 1)));
  const mark = (n: number, by: number | null) => opened.database.commit(turns.mark(KEY, n, by));
  const look = (rules: Partial<MemoryRules>, summarise: Summarise = neverSummarise) =>
    memory.look(KEY, { ...RULES, ...rules }, { summarise, count });
  /** The numbers of the visible turns, read from the first message of each. */
  const seenOf = ({ messages }: { messages: readonly { content: unknown }[] }) =>
    messages.flatMap(({ content }) => (String(content).endsWith('.0') ? [Number.parseInt(String(content), 10)] : []));
  const seen = async (rules: Partial<MemoryRules>) => seenOf(await look(rules));

  it('slides: the newest turns within both limits are visible', async () => {
    await fillPlain(9);
    expect(await seen({})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await seen({ maxMessages: 5 })).toEqual([8, 9]);
    expect(await seen({ maxContextTokens: 35 })).toEqual([7, 8, 9]);
    expect(await look({ maxMessages: 5 })).toMatchObject({
      state: { message_count: 18, context_tokens: 20, dropped: 14, policy: 'sliding_window' },
      place: { lastTurn: 9, messageCount: 18 },
      repaired: [],
    });
  });

  it('sees nothing when the session is empty, when it is off, or when a limit is 0', async () => {
    expect(await look({})).toMatchObject({ messages: [], state: { message_count: 0, dropped: 0 } });
    await fillPlain(2);
    expect(await look({ enabled: false })).toMatchObject({
      messages: [],
      state: { message_count: 4, context_tokens: 0, dropped: 4, policy: 'none' },
      place: { lastTurn: 2 },
    });
    expect(await seen({ maxMessages: 0 })).toEqual([]);
    expect(await seen({ maxContextTokens: 0 })).toEqual([]);
  });

  it('always sees the newest turn, even where its question and answer exceed the limits', async () => {
    await fillPlain(2);
    expect(await seen({ maxMessages: 1 })).toEqual([2]);
    expect(await seen({ maxContextTokens: 9 })).toEqual([2]);
  });

  it('retains the first turns with fixed_window', async () => {
    await fillPlain(9);
    const rules = { policy: 'fixed_window', maxMessages: 8 };
    expect(await seen({ ...rules, keepFirst: 4 })).toEqual([1, 2, 8, 9]);
    expect(await seen({ ...rules, keepFirst: 5 })).toEqual([1, 2, 8, 9]);
    expect(await seen({ ...rules, keepFirst: 100 })).toEqual([1, 2, 3, 9]);
    expect(await seen({ ...rules, keepFirst: 0 })).toEqual([6, 7, 8, 9]);
  });

  it('retains the most recently pinned or referenced turns with lru', async () => {
    await fillPlain(9);
    const rules = { policy: 'lru', maxMessages: 6 };
    expect(await seen(rules)).toEqual([7, 8, 9]);
    await mark(1, PINNED);
    await opened.database.commit(sessions.referenceStatements(ALICE, 's', [2, 1], 8));
    expect(await seen(rules)).toEqual([1, 8, 9]);
    await opened.database.commit(sessions.referenceStatements(ALICE, 's', [3], 10));
    expect(await seen(rules)).toEqual([1, 3, 9]);
    await mark(1, null);
    expect(await seen(rules)).toEqual([3, 8, 9]);
  });

  it('requests as many turns as the tokens allow with token_budget, however many there are', async () => {
    await fill(Array.from({ length: 300 }, (_, at) => turn(at + 1, { tokens: 5 + (at % 7) })));
    const rules = { policy: 'token_budget', maxContextTokens: 100, maxMessages: 1 };
    const { messages, state } = await look(rules);
    expect(state.context_tokens).toBeLessThanOrEqual(100);
    expect(state.context_tokens).toBeGreaterThan(100 - 12);
    expect(messages.at(-1)?.content).toBe('300.1');
    const read = await turns.read(KEY, { through: 300, newest: 25, maxTokens: 100 });
    expect(read.length).toBeLessThan(20);
  });

  it('reads a long session in a few queries', async () => {
    await fillPlain(10_000);
    const queries = vi.spyOn(opened.database, 'query');
    for (const policy of ['sliding_window', 'fixed_window', 'lru', 'token_budget']) {
      queries.mockClear();
      const { messages } = await look({ policy, maxMessages: 50, maxContextTokens: 4000 });
      expect(queries.mock.calls.length).toBeLessThanOrEqual(10);
      expect(messages.length).toBeGreaterThanOrEqual(50);
    }
  });

  it('leaves system messages visible, wherever they are in the session', async () => {
    await fill([turn(1), { ...turn(2), messages: [{ role: 'system', content: 'be kind' }, ...turn(2).messages] }]);
    for (let n = 3; n <= 9; n++) await opened.database.commit(sessions.turnStatements(ALICE, 's', n - 1, turn(n)));
    for (const policy of ['sliding_window', 'token_budget', 'lru']) {
      const { messages } = await look({ policy, maxMessages: 4, maxContextTokens: 25 });
      expect(messages).toContainEqual({ role: 'system', content: 'be kind' });
    }
  });

  it('can leave tool calls out', async () => {
    const call = { id: 'c', name: 'add', arguments: '{}' };
    const messages: Turn['messages'] = [
      { role: 'user', content: '1.0' },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c', name: 'add', content: '3' },
      { role: 'assistant', content: 'three' },
    ];
    await fill([{ runId: 'r', status: 'completed', messages, tokens: 90, plainTokens: 9 }]);
    const plain = await look({ includeToolCalls: false });
    expect(plain.messages).toEqual([messages[0], messages[3]]);
    expect(plain.state).toMatchObject({ context_tokens: 9, dropped: 2 });
    expect((await look({})).messages).toEqual(messages);
  });

  it('summarises evicted turns once, and extends that summary later', async () => {
    const asked: [string | null, number][] = [];
    const summarise = async (former: string | null, messages: readonly unknown[]) => {
      asked.push([former, messages.length]);
      return { text: `summary ${asked.length}`, tokens: 5, usage: NO_USAGE };
    };
    const rules = { policy: 'summary', maxMessages: 10 };
    await fillPlain(5);
    expect(seenOf(await look(rules, summarise))).toEqual([1, 2, 3, 4, 5]);
    await opened.database.commit(sessions.turnStatements(ALICE, 's', 5, turn(6)));
    const first = await look(rules, summarise);
    expect([first.messages[0]?.content, seenOf(first)]).toEqual([expect.stringContaining('summary 1'), [5, 6]]);
    expect(first.place.summary).toEqual({ through: 4, text: 'summary 1', tokens: 5 });
    expect(first.state).toMatchObject({ context_tokens: 34, dropped: 8 });
    await opened.database.commit(sessions.summaryStatements(ALICE, 's', first.place.summary!));
    expect(seenOf(await look(rules))).toEqual([5, 6]);
    for (let n = 7; n <= 9; n++) await opened.database.commit(sessions.turnStatements(ALICE, 's', n - 1, turn(n)));
    const second = await look(rules, summarise);
    expect(asked).toEqual([
      [null, 8],
      ['summary 1', 6],
    ]);
    expect([second.place.summary?.through, seenOf(second)]).toEqual([7, [8, 9]]);
  });

  it('summarises at most the model’s input limit at once, and continues with the rest', async () => {
    await fill(Array.from({ length: 40 }, (_, at) => turn(at + 1, { tokens: 1000 })));
    const rules = { policy: 'summary', maxContextTokens: 2000 };
    const summarise = async () => ({ text: 'short', tokens: 5, usage: NO_USAGE });
    const first = await look(rules, summarise);
    expect([first.place.summary?.through, seenOf(first)]).toEqual([8, [40]]);
    await opened.database.commit(sessions.summaryStatements(ALICE, 's', first.place.summary!));
    expect((await look(rules, summarise)).place.summary?.through).toBe(16);
  });

  it('cuts a long summary, never summarises the newest turn, and leaves stored turns unchanged', async () => {
    const text = 'lorem ipsum '.repeat(900);
    await fill([1, 2, 3].map((n) => saying(n, { role: 'assistant', content: text })));
    const rules = { policy: 'summary', maxContextTokens: 1000 };
    const first = await look(rules, async () => ({ text, tokens: count([{ role: 'user', content: text }]) }));
    expect(first.place.summary).toMatchObject({ through: 2, text });
    expect(first.messages[0]?.content).toContain('omitted');
    expect(seenOf(first)).toEqual([3]);
    expect(count(first.messages)).toBeLessThanOrEqual(1000);
    expect((await memory.lookAgain(KEY, { ...RULES, ...rules }, first.place)).messages).toEqual(first.messages);
  });

  it('reads further back if turns were reduced', async () => {
    const call = { id: 'c', name: 'look', arguments: '{}' };
    const said: SessionMessage[] = [
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c', name: 'look', content: 'lorem ipsum '.repeat(1000) },
      { role: 'assistant', content: 'ok' },
    ];
    await fill([turn(1), saying(2, ...said), saying(3, ...said), saying(4, ...said), turn(5)]);
    for (const policy of ['sliding_window', 'fixed_window', 'lru', 'token_budget'])
      expect(await seen({ policy, maxContextTokens: 1000 })).toEqual([1, 2, 3, 4, 5]);
  });

  it('starts with a user message, and contains no blank message', async () => {
    const greeting = { role: 'assistant', content: 'How can I help?' } as const;
    const system = { role: 'system', content: 'be kind' } as const;
    const blank = { role: 'user', content: ' ' } as const;
    await fill([{ runId: 'r', status: 'completed', messages: [system, blank, greeting] }, turn(2)]);
    const { messages } = await look({});
    expect(messages.slice(0, 3)).toEqual([system, { role: 'user', content: expect.any(String) }, greeting]);
    expect((await sessions.turns(ALICE, 's', 0, 1))[0]?.messages).toEqual([system, blank, greeting]);
  });

  it('repairs damaged turns, and reports their positions', async () => {
    const call = { id: 'c', name: 'add', arguments: '{}' };
    const messages: Turn['messages'] = [
      { role: 'user', content: '1.0' },
      { role: 'tool', toolCallId: 'unknown', name: 'add', content: '3' },
      { role: 'assistant', content: '', toolCalls: [call, call] },
      { role: 'assistant', content: 'three' },
    ];
    await fill([{ runId: 'r', status: 'completed', messages }, turn(2)]);
    const { repaired, messages: seenMessages } = await look({});
    expect(repaired).toEqual([1]);
    expect(seenMessages.slice(0, 4)).toEqual([
      messages[0],
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c', name: 'add', content: expect.stringContaining('lost') },
      messages[3],
    ]);
    expect((await sessions.turns(ALICE, 's', 0, 1))[0]?.messages).toEqual(messages);
  });

  it('sees the same when a run reads it again, whatever has happened since', async () => {
    const policy = constantFrom('sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary');
    const size = record({ messages: integer({ min: 1, max: 6 }), tokens: integer({ min: 4, max: 60 }) });
    await assert(
      asyncProperty(
        array(size, { maxLength: 25 }),
        record({
          policy,
          maxMessages: integer({ min: 0, max: 30 }),
          maxContextTokens: integer({ min: 0, max: 300 }),
          keepFirst: integer({ min: 0, max: 12 }),
        }),
        array(integer({ min: 1, max: 25 }), { maxLength: 3 }),
        async (sizes, changed, marked) => {
          await clear();
          const rules = { ...RULES, ...changed };
          await fill(sizes.map((one, at) => turn(at + 1, one)));
          for (const n of marked) await mark(n, PINNED);
          const first = await look(rules, async () => ({ text: 'short', tokens: 2, usage: NO_USAGE }));
          for (const n of marked) await mark(n, null);
          const { length } = sizes;
          if (length > 0) await opened.database.commit(sessions.turnStatements(ALICE, 's', length, turn(length + 1)));
          const again = await memory.lookAgain(KEY, rules, first.place);
          expect(again.messages).toEqual(first.messages);
          expect(again.state).toEqual(first.state);
        },
      ),
      { numRuns: 60 },
    );
  });
});
