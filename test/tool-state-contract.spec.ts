import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import type { StateStore } from '../src/tool-state/backend/state-store.js';
import type { StoredStateManager } from '../src/tool-state/stored-state-manager.js';
import type { ContextKey, StatePolicy } from '../src/tool-state/tool-state.types.js';
import type { StateData } from '../src/tool/stateful/tool-state.types.js';
import { describeStates, managerOf, stateKinds } from './support/state-stores.js';

Logger.overrideLogger(false);
const HOUR_MS = 3_600_000;
let count = 0;
/** The key of an unused context. */
const fresh = (key: Partial<ContextKey> = {}): ContextKey => ({
  tenant: 'te nant/é',
  session: `s${count++}`,
  tool: 'cart',
  ...key,
});

describeStates('tools’ states', await stateKinds(), (place) => {
  let store: StateStore;
  let states: StoredStateManager;
  beforeAll(async () => {
    store = await place().open();
    states = managerOf(store);
  });
  afterEach(() => void vi.useRealTimers());

  const as = (policy: Partial<StatePolicy>) => managerOf(store, policy);
  const begin = (key = fresh()) => states.createContext(key);
  const dataOf = async (id: string) => (await states.getState(id, 'business'))?.data ?? null;
  /** Advances the clock only; timers stay real. */
  const pass = (ms: number) => {
    const now = Date.now() + ms;
    vi.useFakeTimers({
      now,
      toNotFake: [
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setInterval',
        'clearInterval',
        'setTimeout',
        'clearTimeout',
      ],
    });
  };

  it('belong to one tool in one session of one tenant', async () => {
    const key = fresh();
    const others = [{ tenant: 'other' }, { session: `${key.session}x` }, { tool: 'Cart' }].map((one) => ({
      ...key,
      ...one,
    }));
    const ids = await Promise.all([key, key, key, ...others].map((one) => begin(one)));
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(new Set(ids).size).toBe(4);
    const mine = { mine: true };
    await states.setState(ids[0]!, 'business', mine);
    await begin(key);
    expect(await Promise.all(ids.map(dataOf))).toEqual([mine, mine, mine, null, null, null]);
  });

  it('identify their owner without a read of their content', async () => {
    const key = fresh();
    const id = await begin(key);
    expect([await store.keyOf(id), await store.keyOf('unknown')]).toEqual([key, null]);
    await states.cleanupContext(id);
    expect(await store.keyOf(id)).toBeNull();
  });

  it('are set, replaced, merged and deleted, type by type', async () => {
    const id = await begin();
    expect(await states.getState(id, 'session')).toBeNull();
    expect(await states.setState(id, 'session', { a: 1, b: 1 })).toMatchObject({ version: 1, data: { a: 1, b: 1 } });
    await states.setState(id, 'cache', { c: 1 });
    expect(await states.updateState(id, 'session', { b: 2 })).toMatchObject({ version: 2, data: { a: 1, b: 2 } });
    const grown = await states.updateState(id, 'session', ({ b }) => ({ b: Number(b) + 1 }));
    expect(grown).toMatchObject({ id: `${id}:session`, contextId: id, type: 'session', version: 3, expiresAt: null });
    const got = await states.getState(id, 'session');
    for (const one of [grown, { ...grown }, JSON.parse(JSON.stringify(grown))]) expect(one).toEqual(got);
    expect(await states.setState(id, 'session', { d: null })).toMatchObject({ version: 4, data: { d: null } });
    expect([await states.deleteState(id, 'session'), await states.deleteState(id, 'session')]).toEqual([true, false]);
    expect(await states.getState(id, 'session')).toBeNull();
    expect(await states.getState(id, 'cache')).toMatchObject({ version: 1, data: { c: 1 } });
    expect(await states.updateState(id, 'session', { e: 1 })).toMatchObject({ version: 1, data: { e: 1 } });
  });

  it('do not exist without their context', async () => {
    for (const id of ['ctx_none', '../../etc/passwd', '', "'; DROP TABLE tool_state; --"]) {
      expect([await states.getState(id, 'business'), await states.getContextInfo(id)]).toEqual([null, null]);
      await expect(states.setState(id, 'business', {})).rejects.toMatchObject({ code: 'TOOL_STATE_NOT_FOUND' });
      expect([await states.deleteState(id, 'business'), await states.cleanupContext(id)]).toEqual([false, false]);
      expect([await states.getVersions(id), await states.getHistory(id, 9)]).toEqual([[], []]);
    }
  });

  it('expire one by one, and are new again after that', async () => {
    const id = await begin();
    const { createdAt } = await states.setState(id, 'cache', { short: 1 }, { ttlMs: HOUR_MS });
    await states.setState(id, 'business', { long: 1 });
    pass(HOUR_MS - 1000);
    expect(await states.getState(id, 'cache')).toMatchObject({ data: { short: 1 }, expiresAt: createdAt + HOUR_MS });
    pass(2000);
    expect([await states.getState(id, 'cache'), await dataOf(id)]).toEqual([null, { long: 1 }]);
    expect((await states.getContextInfo(id))!.states).toMatchObject([{ type: 'business' }]);
    const again = await states.updateState(id, 'cache', { other: 1 });
    expect(again).toMatchObject({ version: 2, data: { other: 1 }, createdAt: Date.now() });
  });

  it('expire with an unused context after its idle time', async () => {
    const idle = as({ idleMs: HOUR_MS });
    const key = fresh();
    const id = await idle.createContext(key);
    await idle.setState(id, 'business', { n: 1 });
    pass(HOUR_MS - 1000);
    await idle.updateState(id, 'business', { m: 1 });
    pass(HOUR_MS - 1000);
    expect(await dataOf(id)).toEqual({ n: 1, m: 1 });
    expect(await store.expired(Date.now(), 1000)).not.toContain(id);
    pass(2000);
    expect(await store.expired(Date.now(), 1000)).toContain(id);
    expect(await states.listContexts(key)).toEqual([]);
    const shown = [await dataOf(id), await idle.getContextInfo(id), await idle.deleteState(id, 'business')];
    expect(shown).toEqual([null, null, false]);
    expect([await idle.getVersions(id), await idle.getHistory(id, 9)]).toEqual([[], []]);
    await expect(idle.rollback(id, 1)).rejects.toMatchObject({ code: 'TOOL_STATE_NOT_FOUND' });
    await idle.createContext(key);
    expect([await dataOf(id), await idle.getVersions(id)]).toEqual([null, []]);
    expect(await idle.updateState(id, 'business', { new: 1 })).toMatchObject({ version: 1, data: { new: 1 } });
  });

  it('are hidden from reads after they expire, and removed by a sweep or a write only', async () => {
    const idle = as({ idleMs: HOUR_MS });
    const ids = [await idle.createContext(fresh()), await idle.createContext(fresh())] as const;
    for (const id of ids) await idle.setState(id, 'business', { n: 1 });
    pass(HOUR_MS);
    for (const id of ids) {
      const traces = await place().traces(id);
      expect(traces.length).toBeGreaterThan(0);
      const read = [await idle.getState(id, 'business'), await idle.getContextInfo(id), await idle.getVersions(id)];
      expect([read, await place().traces(id)]).toEqual([[null, null, []], traces]);
    }
    const [swept, written] = ids;
    expect(await store.remove(swept, (await store.load(swept))!.revision)).toBe(true);
    expect(await place().traces(swept)).toEqual([]);
    await expect(idle.setState(written, 'business', { n: 2 })).rejects.toMatchObject({ code: 'TOOL_STATE_NOT_FOUND' });
    expect(await place().traces(written)).toEqual([]);
  });

  it('are not removed as expired after a concurrent write', async () => {
    const key = fresh();
    const id = await as({ idleMs: HOUR_MS }).createContext(key);
    const { revision } = (await store.load(id))!;
    await states.setState(id, 'business', { stored: 1 });
    expect([await store.remove(id, revision), await dataOf(id)]).toEqual([false, { stored: 1 }]);
    expect([await store.remove(id, revision + 1), await dataOf(id)]).toEqual([true, null]);
  });

  it('stay unchanged when they would become too large', async () => {
    const id = await begin();
    const small = as({ maxStateBytes: 20 });
    await small.setState(id, 'business', { a: 'b' });
    const tooLarge = { code: 'TOOL_STATE_TOO_LARGE', message: expect.stringContaining('the maximum of 20') };
    await expect(small.setState(id, 'business', { a: 'é'.repeat(8) })).rejects.toMatchObject(tooLarge);
    await expect(small.updateState(id, 'business', { bbbbbb: 'cc' })).rejects.toMatchObject(tooLarge);
    expect(await states.getState(id, 'business')).toMatchObject({ version: 1, data: { a: 'b' } });
  });

  it('are listed by tool and by session, page by page', async () => {
    const tenant = `list ${count++}`;
    const keys = ['s1', 's2', 's3'].flatMap((session) => ['a', 'b'].map((tool) => ({ tenant, session, tool })));
    const ids = await Promise.all(keys.map((key) => begin(key)));
    await begin(fresh());
    const idsOf = (of: Partial<ContextKey>) =>
      ids
        .filter((_, at) => Object.entries(of).every(([name, value]) => keys[at]![name as 'tool'] === value))
        .toSorted();
    for (const filter of [{}, { tool: 'b' }, { session: 's2' }, { tool: 'a', session: 's3' }, { tool: 'none' }]) {
      const all = idsOf(filter);
      expect(await states.listContexts({ tenant, ...filter })).toEqual(all);
      const paged: string[] = [];
      for (let page = await states.listContexts({ tenant, ...filter, limit: 2 }); page.length > 0;) {
        paged.push(...page);
        page = await states.listContexts({ tenant, ...filter, limit: 2, after: page.at(-1)! });
      }
      expect(paged).toEqual(all);
    }
    const some = { tenant, sessions: ['s1', 's3', 'absent'] };
    const within = [...idsOf({ session: 's1' }), ...idsOf({ session: 's3' })].toSorted();
    expect(await states.listContexts(some)).toEqual(within);
    expect(await states.listContexts({ ...some, after: within[0]!, limit: 2 })).toEqual(within.slice(1, 3));
    expect(await states.listContexts({ ...some, tool: 'a', session: 's1' })).toEqual(
      idsOf({ session: 's1', tool: 'a' }),
    );
    expect(await states.listContexts({ ...some, session: 's2' })).toEqual([]);
    expect(await states.listContexts({ tenant, sessions: [] })).toEqual([]);
    await states.cleanupContext(ids[0]!);
    expect(await states.listContexts({ tenant, session: 's1' })).toEqual([ids[1]!]);
  });

  it('are limited to the allowed number of tools in a session', async () => {
    const few = as({ maxContextsPerSession: 2 });
    const key = fresh();
    const inTool = (tool: string) => few.createContext({ ...key, tool });
    const [first] = [await inTool('a'), await inTool('b')];
    await expect(inTool('c')).rejects.toMatchObject({ code: 'TOOL_STATE_LIMIT' });
    await inTool('a');
    await few.cleanupContext(first);
    await inTool('c');
    const others = await Promise.allSettled(
      Array.from({ length: 9 }, (_, n) => few.createContext(fresh({ session: 'full', tool: `t${n}` }))),
    );
    expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  it('describe a context without its content', async () => {
    const key = fresh();
    const id = await begin(key);
    const { updatedAt } = await states.setState(id, 'connection', { secret: 'word' });
    const info = (await states.getContextInfo(id))!;
    const { createdAt, usedAt } = info;
    expect([usedAt >= createdAt, usedAt]).toEqual([true, updatedAt]);
    const times = { createdAt: updatedAt, updatedAt, expiresAt: null };
    expect(info).toEqual({
      id,
      ...key,
      manager: 'test',
      createdAt,
      usedAt,
      expiresAt: null,
      states: [{ id: `${id}:connection`, type: 'connection', version: 1, ...times }],
    });
  });

  it('leave no trace after cleanup', async () => {
    const id = await as({ idleMs: HOUR_MS }).createContext(fresh());
    for (const type of ['business', 'cache'] as const) await states.setState(id, type, { a: type });
    await states.edit(id, (draft) => draft.note('execution_start', 'k', { a: 1 }));
    expect((await place().traces(id)).length).toBeGreaterThan(0);
    expect([await states.cleanupContext(id), await states.cleanupContext(id)]).toEqual([true, false]);
    expect(await place().traces(id)).toEqual([]);
    expect([await dataOf(id), await states.getVersions(id), await states.getHistory(id, 9)]).toEqual([null, [], []]);
  });

  it('are copies of their input and of their output', async () => {
    const id = await begin();
    const given = { list: [1], deep: { a: 1 } };
    const detail = { list: [1] };
    const got = await states.setState(id, 'business', given);
    await states.edit(id, (draft) => draft.note('execution_start', null, detail));
    const [entry] = await states.getHistory(id, 1);
    const [version] = await states.getVersions(id);
    for (const { list } of [given, detail, got.data, entry!.detail, version!.data] as { list: number[] }[])
      list.push(2);
    (got.data as typeof given).deep.a = 2;
    expect(await dataOf(id)).toEqual({ list: [1], deep: { a: 1 } });
    expect((await states.getHistory(id, 1))[0]!.detail).toEqual({ list: [1] });
    expect((await states.getVersions(id))[0]!.data).toEqual({ list: [1], deep: { a: 1 } });
  });

  it('are byte for byte the stored value, for any JSON', async () => {
    const id = await begin();
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const wild = fc.constantFrom(
      '\0',
      '\ud800',
      '\udfff\ud800',
      '🐦‍⬛',
      '\u2028',
      '\ufeff',
      '"gzip:AAAA"',
      'enc:1:k:AA',
      '__proto__',
      '$held',
      "'",
    );
    const words = fc.oneof(text, wild);
    const data = fc.dictionary(words, fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), { maxKeys: 5 });
    // Up to 6 bytes of JSON per unit, below the limit of 100,000.
    const long = words.map((word) => ({ long: word.slice(0, 8).repeat(2000) }));
    const deep = words.map(
      (word) => JSON.parse(`${'{"a":['.repeat(25)}${JSON.stringify(word)}${']}'.repeat(25)}`) as StateData,
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(data, long, deep), async (given) => {
        const json = JSON.stringify(given);
        const set = await states.setState(id, 'business', given as StateData);
        const got = [set.data, await dataOf(id), (await states.getVersions(id))[0]!.data];
        // One comparison, since the diff of a long text is unreadable.
        expect(got.every((one) => JSON.stringify(one) === json)).toBe(true);
      }),
      { numRuns: 60, examples: [[{ before: 1, $held: 2, after: 3 }]] },
    );
  });
});
