import { beforeAll, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import type { StateStore } from '../src/tool-state/backend/state-store.js';
import type { StoredStateManager } from '../src/tool-state/stored-state-manager.js';
import type { ConflictResolution } from '../src/tool/stateful/stateful-options.policy.js';
import { describeStates, managerOf, stateKinds } from './support/state-stores.js';

Logger.overrideLogger(false);
let count = 0;
const fresh = () => ({ tenant: 't', session: `s${count++}`, tool: 'counter' });

describeStates('business states', await stateKinds(), (place, { isShared }) => {
  let store: StateStore;
  let states: StoredStateManager;
  beforeAll(async () => {
    store = await place().open();
    states = managerOf(store);
  });

  const begin = () => states.createContext(fresh());
  const fill = async (id: string, changes: number) => {
    for (let n = 1; n <= changes; n++) await states.setState(id, 'business', { n }, { by: `call-${n}` });
  };
  const versions = async (id: string) =>
    (await states.getVersions(id)).map(({ version, data }) => [version, data['n']]);

  it('count their versions, and retain the latest ones with their authors', async () => {
    const id = await begin();
    await fill(id, 5);
    expect(await states.getState(id, 'business')).toMatchObject({ version: 5, data: { n: 5 } });
    expect(await versions(id)).toEqual([5, 4, 3].map((n) => [n, n]));
    expect(await states.getVersions(id)).toMatchObject([5, 4, 3].map((n) => ({ by: `call-${n}` })));
  });

  it('are rolled back to an earlier version', async () => {
    const id = await begin();
    await fill(id, 4);
    expect(await states.rollback(id, 2, 'me')).toMatchObject({ version: 5, data: { n: 2 } });
    expect(await versions(id)).toEqual([[5, 2], [4, 4], [3, 3]]); // prettier-ignore
    expect(await states.getHistory(id, 9)).toMatchObject([
      { n: 1, kind: 'rollback', by: 'me', detail: { from: 4, to: 2 } },
    ]);
    const gone = { code: 'TOOL_STATE_NOT_FOUND', message: expect.stringContaining('Stored versions: 5, 4, 3') };
    await expect(states.rollback(id, 1)).rejects.toMatchObject(gone);
    expect(await states.getState(id, 'business')).toMatchObject({ version: 5, data: { n: 2 } });
  });

  it('have no versions if none are retained, nor after they were deleted', async () => {
    const none = managerOf(store, { maxVersions: 0 });
    const id = await begin();
    await none.setState(id, 'business', { n: 1 });
    expect(await versions(id)).toEqual([]);
    await fill(id, 2);
    expect(await versions(id)).toEqual([[3, 2], [2, 1]]); // prettier-ignore
    await states.deleteState(id, 'business');
    expect(await versions(id)).toEqual([]);
    await fill(id, 1);
    expect(await versions(id)).toEqual([[1, 1]]);
  });

  it('have a bounded history of events, page by page', async () => {
    const id = await begin();
    for (let n = 1; n <= 7; n++) {
      await states.edit(id, (draft) => {
        draft.note('execution_start', `call-${n}`, { n });
        if (n === 7) draft.note('execution_error', null, { error: 'x' });
      });
    }
    const all = await states.getHistory(id, 9);
    expect(all.map(({ n, kind, by, detail }) => [n, kind, by, detail])).toEqual([
      [8, 'execution_error', null, { error: 'x' }],
      ...[7, 6, 5, 4].map((n) => [n, 'execution_start', `call-${n}`, { n }]),
    ]);
    expect(await states.getHistory(id, 2)).toEqual(all.slice(0, 2));
    expect(await states.getHistory(id, 2, 7)).toEqual(all.slice(2, 4));
    const none = managerOf(store, { maxHistory: 0 });
    await none.edit(id, (draft) => draft.note('execution_start', null, {}));
    expect(await states.getHistory(id, 9)).toEqual(all);
  });

  it('retain no more history than allowed under concurrency', async () => {
    const id = await begin();
    await states.edit(id, (draft) => {
      for (let n = 1; n <= 12; n++) draft.note('execution_start', null, { n });
    });
    expect((await states.getHistory(id, 99)).map(({ n }) => n)).toEqual([12, 11, 10, 9, 8]);
  });

  it.each<[ConflictResolution, unknown]>([
    ['last_write_wins', { b: 2 }],
    ['first_write_wins', { a: 1, b: 1 }],
    ['merge', { a: 1, b: 2 }],
    ['error', 'TOOL_STATE_CONFLICT'],
  ])('resolve a concurrent change: %s', async (conflict, outcome) => {
    const resolving = managerOf(store, { conflict });
    const id = await begin();
    await resolving.setState(id, 'business', { a: 0 }, { basedOn: 0 });
    await resolving.setState(id, 'business', { a: 1, b: 1 }, { basedOn: 1 });
    const late = resolving.setState(id, 'business', { b: 2 }, { basedOn: 1 });
    const got = await late.then(({ data }) => data, ({ code }: { code: string }) => code); // prettier-ignore
    expect(got).toEqual(outcome);
    const isChanged = conflict === 'last_write_wins' || conflict === 'merge';
    expect(await states.getState(id, 'business')).toMatchObject({ version: isChanged ? 3 : 2 });
  });

  it('lose none of 100 concurrent changes', async () => {
    const id = await begin();
    const add = () => states.updateState(id, 'business', ({ n }) => ({ n: Number(n ?? 0) + 1 }));
    const done = await Promise.all(Array.from({ length: 100 }, add));
    expect(new Set(done.map(({ version }) => version)).size).toBe(100);
    expect(await states.getState(id, 'business')).toMatchObject({ version: 100, data: { n: 100 } });
    expect(await versions(id)).toEqual([100, 99, 98].map((n) => [n, n]));
  });

  if (!isShared) return;

  it('lose none of 100 concurrent changes from each of two processes', async () => {
    const other = managerOf(await place().open());
    const key = fresh();
    const [id] = await Promise.all([states, other].map((one) => one.createContext(key)));
    const add = async (one: StoredStateManager) => {
      await one.updateState(id!, 'business', ({ n }) => ({ n: Number(n ?? 0) + 1 }));
      await one.edit(id!, (draft) => draft.note('execution_success', null, {}));
    };
    await Promise.all([states, other].flatMap((one) => Array.from({ length: 100 }, () => add(one))));
    for (const one of [states, other]) {
      expect(await one.getState(id!, 'business')).toMatchObject({ version: 200, data: { n: 200 } });
    }
    expect(await versions(id!)).toEqual([200, 199, 198].map((n) => [n, n]));
    expect((await states.getHistory(id!, 99)).map(({ n }) => n)).toEqual([200, 199, 198, 197, 196]);
  });
});
