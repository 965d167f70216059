import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import type { AppError } from '../src/errors/index.js';
import { refusalOf } from '../src/persistence/index.js';
import { insert, type Statement } from '../src/persistence/statement/index.js';
import { contextIdOf } from '../src/tool-state/context-id.factory.js';
import { ContextDraft } from '../src/tool-state/context-draft.js';
import { DatabaseStateStore } from '../src/tool-state/backend/database-state-store.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import type { StoredStateManager } from '../src/tool-state/stored-state-manager.js';
import type { ContextKey } from '../src/tool-state/tool-state.types.js';
import { openDatabase, type OpenDatabase } from './support/run-host.js';
import { managerOf, POLICY } from './support/state-stores.js';
import { describeDatabases, testServers } from './support/test-databases.js';

Logger.overrideLogger(false);
let count = 0;
const fresh = (key: Partial<ContextKey> = {}): ContextKey => ({
  tenant: 't',
  session: `s${count++}`,
  tool: 'a',
  ...key,
});

describeDatabases('tool states in the journal database', await testServers(), (created, kind) => {
  let opened: OpenDatabase;
  let store: DatabaseStateStore;
  let states: StoredStateManager;
  beforeAll(async () => {
    opened = await openDatabase({ DATABASE_URL: created().url });
    store = new DatabaseStateStore(opened.database, new StateCodec());
    states = managerOf(store);
  });
  afterAll(() => opened.close());

  const commit = (statements: readonly Statement[]) => opened.database.commit(statements);
  const refusal = (done: Promise<unknown>) => done.then(() => null, (error: unknown) => [refusalOf(error), error]); // prettier-ignore
  const draftOf = async (key: ContextKey, id: string, isOfRun = false) =>
    new ContextDraft(await store.load(id), key, POLICY, Date.now(), isOfRun);
  /** The statements of a change, not yet committed. */
  const change = async (key: ContextKey, id: string, n: number, isOfRun = false) => {
    const draft = await draftOf(key, id, isOfRun);
    draft.put('business', { n });
    draft.note('execution_success', `call-${n}`, { n });
    return store.statements(draft.toWrite());
  };
  const begin = async (key: ContextKey, isOfRun = false) => {
    const draft = new ContextDraft(null, key, POLICY, Date.now(), isOfRun);
    await commit(await change(key, draft.id, 1, isOfRun));
    return draft.id;
  };
  const rowsOf = async (id: string) => {
    const tables = ['tool_state_entry', 'tool_state_version', 'tool_state_history'];
    const parts = tables.map((table) => opened.database.query(`SELECT 1 FROM ${table} WHERE context_id = ?`, [id]));
    const context = opened.database.query('SELECT 1 FROM tool_state WHERE id = ?', [id]);
    return (await Promise.all([context, ...parts])).map(({ length }) => length);
  };
  const there = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await rowsOf(id)).some(Boolean)));

  it('are committed in one batch with other statements, or reject the whole batch', async () => {
    const key = fresh();
    const id = await begin(key);
    const [first, second] = [await change(key, id, 2), await change(key, id, 3)];
    const definition = (hash: string) => insert('run_definition', { tenant: 't', hash, content: '{}', created_at: 1 });
    expect(first[0]).toMatchObject({ sql: expect.stringMatching(/^UPDATE tool_state .* revision = \?$/s), rows: 1 });
    await commit([definition(`first-${id}`), ...first]);
    const [reason, error] = (await refusal(commit([definition(`second-${id}`), ...second])))!;
    expect([reason, (error as { details: object }).details]).toEqual(['rows', { reason: 'rows', statement: 1 }]);
    const hashes = await opened.database.query('SELECT hash FROM run_definition WHERE hash LIKE ?', [`%-${id}`]);
    expect(hashes).toEqual([{ hash: `first-${id}` }]);
    expect(await states.getState(id, 'business')).toMatchObject({ version: 2, data: { n: 2 } });
  });

  it('are created by one writer only', async () => {
    const key = fresh();
    const draft = new ContextDraft(null, key, POLICY, Date.now());
    const [first, second] = [await change(key, draft.id, 1), await change(key, draft.id, 2)];
    expect(first[0]).toMatchObject({ sql: expect.stringMatching(/^INSERT INTO tool_state /), rows: 1 });
    const results = await Promise.all([first, second].map((statements) => refusal(commit(statements))));
    expect(results.filter((result) => result === null)).toHaveLength(1);
    expect(results.find((result) => result !== null)![0]).toBe('unique');
  });

  it('report a late write, and fail with an impossible write', async () => {
    const key = fresh();
    const id = await begin(key);
    const draft = await draftOf(key, id);
    draft.put('cache', { n: 1 });
    expect([await store.write(draft.toWrite()), await store.write(draft.toWrite())]).toEqual([true, false]);
    const next = await draftOf(key, id);
    next.put('business', { n: 2 });
    const write = next.toWrite();
    const clash = { ...write, version: { ...write.version!, version: 1 } };
    await expect(store.write(clash)).rejects.toMatchObject({ code: 'COMMIT_REFUSED' });
    expect(await store.load(id)).toMatchObject({ revision: 2 });
  });

  it('are read with one query', async () => {
    const id = await begin(fresh());
    await states.setState(id, 'cache', { n: 1 });
    const query = vi.spyOn(opened.database, 'query');
    expect((await store.load(id))!.states).toMatchObject({ business: {}, cache: {} });
    expect(query.mock.calls).toHaveLength(1);
    query.mockRestore();
  });

  it('are deleted with their session, in its batch, and no others', async () => {
    const key = fresh();
    const ids = [await begin(key), await begin({ ...key, tool: 'b' }, true)];
    const others = [await begin(fresh()), await begin({ ...key, tenant: 'other' })];
    await commit(store.statementsToRemoveOf(key.tenant, key.session));
    expect(await there(...ids, ...others)).toEqual([false, false, true, true]);
    await commit(store.statementsToRemoveOf(key.tenant, key.session));
    const again = await begin(key);
    expect([again, await rowsOf(again)]).toEqual([ids[0], [1, 1, 1, 1]]);
  });

  it('are deleted with their run', async () => {
    const key = fresh();
    const ids = [await begin(key), await begin({ ...key, tool: 'b' }, true)];
    await commit(store.statementsToRemoveRun(key.tenant, key.session));
    expect(await there(...ids)).toEqual([true, false]);
  });

  it('are deleted one by one, in any batch', async () => {
    const ids = [await begin(fresh()), await begin(fresh())];
    await commit([...store.statementsToRemove(ids[0]!), ...store.statementsToRemove('ctx_none')]);
    expect(await there(...ids)).toEqual([false, true]);
  });

  it('are complete or gone, however many remove them during writes', async () => {
    const key = fresh();
    const write = async () => {
      const id = await states.createContext(key);
      return states
        .updateState(id, 'business', ({ n }) => ({ n: Number(n ?? 0) + 1 }))
        .then(
          () => true,
          (error: AppError) => error.code,
        );
    };
    const remove = () => commit(store.statementsToRemoveOf(key.tenant, key.session));
    const work = Array.from({ length: 6 }, async (_, at) => {
      const outcomes: unknown[] = [];
      for (let n = 0; n < 10; n++) outcomes.push(await (at % 3 === 0 ? remove() : write()));
      return outcomes;
    });
    const outcomes = new Set((await Promise.all(work)).flat());
    outcomes.delete('TOOL_STATE_NOT_FOUND');
    expect(outcomes).toEqual(new Set([undefined, true]));
    await remove();
    expect(await rowsOf(contextIdOf(key))).toEqual([0, 0, 0, 0]);
  });

  if (kind !== 'mariadb') return;

  it('are removed along indexes', async () => {
    for (const { sql, params } of store.statementsToRemoveOf('t', 'none').slice(1, -1)) {
      const plan = await opened.database.query<{ table: string; type: string }>(`EXPLAIN ${sql}`, params);
      const tables = plan.filter(({ table }) => !table.startsWith('<derived'));
      expect(tables.map(({ type }) => type)).toEqual(['ref', 'ref']);
    }
  });
});
