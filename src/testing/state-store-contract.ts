import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ContextWrite, StateStore, StoredContext, StoredContextState } from '../tool-state/index.js';
import { assertJson, contractCase, type ContractCase } from './contract.js';

const HOUR_MS = 3_600_000;

function state(json: string, version = 1): StoredContextState {
  return { json, version, createdAt: 1000, updatedAt: 1000 + version, expiresAt: null };
}

function context(more: Partial<StoredContext> = {}): StoredContext {
  return {
    id: `ctx_${randomUUID()}`,
    tenant: 'te nant/é',
    session: randomUUID(),
    tool: 'cart',
    revision: 1,
    createdAt: 1000,
    usedAt: 2000,
    expiresAt: null,
    isOfRun: false,
    lastHistory: 0,
    lastChange: null,
    states: {},
    ...more,
  };
}

function write(written: StoredContext, more: Partial<ContextWrite> = {}): ContextWrite {
  return { context: written, changed: [], oldestVersion: 0, history: [], oldestHistory: 0, ...more };
}

function rule(name: string, check: (store: StateStore) => Promise<void>): ContractCase<StateStore> {
  return contractCase<StateStore>(name, check);
}

/** Creates contexts. @returns their ids, sorted */
async function create(store: StateStore, contexts: readonly StoredContext[]): Promise<string[]> {
  for (const one of contexts) assert.equal(await store.write(write(one)), true);
  return contexts.map(({ id }) => id).toSorted();
}

/** The rules of a `StateStore`. */
export const stateStoreContract: readonly ContractCase<StateStore>[] = [
  rule('has nothing under an unknown id', async (store) => {
    for (const id of ['ctx_none', '../../etc/passwd', '', "'; DROP TABLE states; --"]) {
      assertJson([await store.load(id), await store.keyOf(id)], [null, null]);
      assertJson([await store.versions(id), await store.history(id, 9)], [[], []]);
      assert.equal(await store.remove(id), false);
    }
  }),

  rule('returns a stored context unchanged', async (store) => {
    const json = JSON.stringify({ NUL: '\0', lone: '\ud800', bird: '🐦', deep: [{ a: 1.5 }], __proto: null });
    const stored = context({ states: { business: state(json), cache: state('{}', 3) }, lastChange: '12' });
    assert.equal(await store.write(write(stored, { changed: ['business', 'cache'] })), true);
    assertJson(await store.load(stored.id), stored);
    const { tenant, session, tool } = stored;
    assertJson(await store.keyOf(stored.id), { tenant, session, tool });
  }),

  rule('stores a state of 1 MB', async (store) => {
    const json = JSON.stringify({ text: 'x'.repeat(1_000_000) });
    const stored = context({ states: { business: state(json) } });
    await store.write(write(stored, { changed: ['business'] }));
    assert.equal((await store.load(stored.id))?.states.business?.json === json, true);
  }),

  rule('replaces and deletes the changed states only', async (store) => {
    const first = context({ states: { business: state('{"a":1}'), cache: state('{"b":1}') } });
    await store.write(write(first, { changed: ['business', 'cache'] }));
    const second = { ...first, revision: 2, states: { business: state('{"a":2}', 2) } };
    assert.equal(await store.write(write(second, { changed: ['business', 'cache'] })), true);
    assertJson(await store.load(first.id), second);
  }),

  rule('refuses a write on another revision, without a change', async (store) => {
    const first = context();
    assert.equal(await store.write(write({ ...first, revision: 2 })), false);
    assert.equal(await store.load(first.id), null);
    await create(store, [first]);
    for (const revision of [1, 3]) {
      const other = { ...first, revision, usedAt: 9999, states: { cache: state('{}') } };
      const version = { version: 1, json: '{}', at: 1, by: null };
      assert.equal(await store.write(write(other, { changed: ['cache'], version })), false);
    }
    assertJson([await store.load(first.id), await store.versions(first.id)], [first, []]);
  }),

  rule('accepts one of several writes at once', async (store) => {
    const first = context();
    await create(store, [first]);
    const writes = Array.from({ length: 8 }, (_, n) => store.write(write({ ...first, revision: 2, usedAt: n })));
    assert.equal((await Promise.all(writes)).filter(Boolean).length, 1);
  }),

  rule('returns versions and history, the newest first, without removed ones', async (store) => {
    const { id, ...rest } = context();
    for (const n of [1, 2, 3, 4]) {
      const version = { version: n, json: `{"n":${n}}`, at: n, by: n === 1 ? null : `key-${n}` };
      const entry = { n, at: n, kind: 'execution_start' as const, by: null, detail: { n, text: 'é 🐦' } };
      const written = { id, ...rest, revision: n, lastHistory: n };
      const limits = { oldestVersion: n - 1, oldestHistory: n - 2 };
      assert.equal(await store.write(write(written, { version, history: [entry], ...limits })), true);
    }
    assertJson(await store.versions(id), [
      { version: 4, json: '{"n":4}', at: 4, by: 'key-4' },
      { version: 3, json: '{"n":3}', at: 3, by: 'key-3' },
    ]);
    const numbers = async (limit: number, before?: number) =>
      (await store.history(id, limit, before)).map(({ n }) => n);
    assertJson(
      [await numbers(9), await numbers(2), await numbers(9, 4)],
      [
        [4, 3, 2],
        [4, 3],
        [3, 2],
      ],
    );
    const [entry] = await store.history(id, 1);
    assertJson(entry, { n: 4, at: 4, kind: 'execution_start', by: null, detail: { n: 4, text: 'é 🐦' } });
  }),

  rule('removes a context with its versions and its history', async (store) => {
    const stored = context({ states: { business: state('{}') }, lastHistory: 1 });
    const version = { version: 1, json: '{}', at: 1, by: null };
    const history = [{ n: 1, at: 1, kind: 'execution_success' as const, by: null, detail: {} }];
    await store.write(write(stored, { changed: ['business'], version, history }));
    assertJson([await store.remove(stored.id, 2), await store.remove(stored.id, 1)], [false, true]);
    assert.equal(await store.remove(stored.id), false);
    assertJson([await store.load(stored.id), await store.keyOf(stored.id)], [null, null]);
    assertJson([await store.versions(stored.id), await store.history(stored.id, 9)], [[], []]);
    assert.equal(await store.write(write({ ...stored, states: {} })), true);
    assertJson(await store.versions(stored.id), []);
  }),

  rule('lists the ids of unexpired contexts by tenant, tool and session, page by page', async (store) => {
    const tenant = randomUUID();
    const keys = ['s1', 's2', 's3'].flatMap((session) => ['a', 'b'].map((tool) => ({ tenant, session, tool })));
    const contexts = keys.map((key) => context(key));
    const all = await create(store, contexts);
    await create(store, [
      context({ tenant, session: 's1', expiresAt: Date.now() - HOUR_MS }),
      context({ session: 's1' }),
    ]);
    const idsOf = (isMeant: (one: StoredContext) => boolean) =>
      contexts
        .filter(isMeant)
        .map(({ id }) => id)
        .toSorted();
    assertJson(await store.list({ tenant }), all);
    assertJson(
      await store.list({ tenant, tool: 'b' }),
      idsOf(({ tool }) => tool === 'b'),
    );
    assertJson(
      await store.list({ tenant, session: 's2' }),
      idsOf(({ session }) => session === 's2'),
    );
    const sessions = ['s1', 's3', 'absent'];
    assertJson(
      await store.list({ tenant, sessions }),
      idsOf(({ session }) => session !== 's2'),
    );
    assertJson(await store.list({ tenant, sessions: [] }), []);
    assertJson(await store.list({ tenant, limit: 4 }), all.slice(0, 4));
    assertJson(await store.list({ tenant, after: all[3]!, limit: 4 }), all.slice(4));
    assert.ok((await store.tenants()).includes(tenant));
  }),

  rule('finds expired contexts, or has removed them', async (store) => {
    const now = Date.now();
    const [expired, live] = [context({ expiresAt: now - 1000 }), context({ expiresAt: now + HOUR_MS })];
    await create(store, [expired, live]);
    const found = await store.expired(now, 10_000);
    assert.equal(found.includes(live.id), false);
    if (!found.includes(expired.id)) assert.equal(await store.load(expired.id), null);
    assert.ok((await store.expired(now, 1)).length <= 1);
  }),
];
