import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { cpSync, rmSync } from 'node:fs';
import { beginMany, entry, NOW, scope } from '../../../test/support/budget-entries.js';
import { newFolder } from '../../../test/support/jackdaw.js';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { AppError } from '../../common/index.js';
import type { BudgetEntry } from './budget.types.js';
import type { BudgetStore } from './budget.store.js';
import { createBudgetStore } from './model-budget.factory.js';
import { OwnBudgetStore } from './own-budget.store.js';
import { SharedBudgetStore } from './shared-budget.store.js';

let folders: string[];
let opened: OpenDatabase;
let store: BudgetStore;
beforeEach(async () => {
  folders = [newFolder()];
  await open();
});
afterEach(async () => {
  jest.useRealTimers();
  await opened.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  opened = await openDatabase({ DATA_DIR: folders.at(-1) });
  store = createBudgetStore(opened.database);
}

async function reserved(one: BudgetEntry, before: BudgetEntry | null = null): Promise<BudgetEntry> {
  const scopes = one.scopes.map((key) => scope(key));
  expect(await store.reserve(one, before, scopes, NOW)).toBeNull();
  return one;
}

async function take(id: string, tokens: number, isTold = true): Promise<void> {
  const held = await reserved(entry(id, 100), await store.find(id));
  await store.settle(held, { tokens, cost: tokens }, Date.now(), { isTold });
}

/** The journal tells of a call. */
async function tell(runId: string, tokens: number): Promise<void> {
  const told = store.journaled(runId, { tokens, cost: tokens })!;
  await opened.database.commit(told.statements);
  told.committed();
}

/** A process that finds what was on the disk at this moment. */
async function crash(): Promise<void> {
  const from = folders.at(-1)!;
  folders.push(newFolder());
  cpSync(from, folders.at(-1)!, { recursive: true });
  await opened.close();
  await open();
}

const sum = async () => (await store.sum(scope('session:s')))?.tokens;

it('is what counts in a database of this process alone', () => {
  expect(store).toBeInstanceOf(OwnBudgetStore);
});

describe('what calls took', () => {
  it('is written in the batch that tells of it, and survives a crash then', async () => {
    await take('r:model:1', 7);
    await take('r:model:2', 5);
    await take('q:model:1', 3);
    expect(await sum()).toBe(15);
    await tell('r', 5);
    expect(store.journaled('r', { tokens: 5, cost: 5 })).toBeNull();
    await crash();
    expect(await sum()).toBe(5);
    await take('r:model:1', 7);
    await tell('r', 7);
    await crash();
    expect(await sum()).toBe(12);
  });

  it('is written by itself where nothing will tell of it', async () => {
    await take('r:model:1', 7, false);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is written by itself when nothing has told of it', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    await take('r:model:1', 7);
    await jest.advanceTimersByTimeAsync(20_000);
    jest.useRealTimers();
    await new Promise(setImmediate);
    expect(store.journaled('r', { tokens: 7, cost: 7 })).toBeNull();
    await crash();
    expect(await sum()).toBe(7);
  });

  it('counts once when a step asks again, whether it was written or not', async () => {
    await take('r:model:1', 7);
    await take('q:model:1', 5, false);
    await take('r:model:1', 6);
    await take('q:model:1', 4);
    expect(await sum()).toBe(10);
    await tell('r', 6);
    await crash();
    expect(await sum()).toBe(6);
    await take('q:model:1', 4);
    await tell('q', 4);
    await crash();
    expect(await sum()).toBe(10);
  });

  it('is written later when the batch was refused', async () => {
    await take('r:model:1', 7);
    store.journaled('r', { tokens: 7, cost: 7 })!.discard();
    await tell('r', 7);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is counted, and written later, when the database does not take it now', async () => {
    const fault = jest.spyOn(opened.database, 'commit').mockRejectedValueOnce(new Error('full'));
    await expect(take('r:model:1', 7, false)).rejects.toThrow('full');
    fault.mockRestore();
    expect(await sum()).toBe(7);
    await tell('r', 7);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is never out of memory while somebody reserves', async () => {
    const ask = async (n: number) => {
      const one = await reserved(entry(`r${n}:model:1`, 1, [`session:${n}`]));
      await store.settle(one, { tokens: 7, cost: 7 }, NOW, { isTold: true });
      await tell(`r${n}`, 7);
    };
    await Promise.all(Array.from({ length: 3000 }, (_, n) => ask(n)));
    expect(await store.sum(scope('session:0'))).toMatchObject({ tokens: 7 });
  });

  it('stays as it was when a step that asks again cannot take its place', async () => {
    await take('r:model:1', 7, false);
    const before = await store.find('r:model:1');
    const fault = jest.spyOn(opened.database, 'commit').mockRejectedValueOnce(new Error('full'));
    const asked = store.reserve(entry('r:model:1', 100), before, [scope('session:s')], NOW);
    await expect(asked).rejects.toThrow('full');
    fault.mockRestore();
    expect([await store.find('r:model:1'), await sum()]).toEqual([before, 7]);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is read again when it is in memory no more', async () => {
    for (let n = 0; n < 2100; n++) {
      const one = await reserved(entry(`r${n}:model:1`, 100, [`session:${n}`]));
      await store.settle(one, { tokens: 7, cost: 7 }, NOW, { isTold: n !== 1 });
      if (n > 1) await tell(`r${n}`, 7);
    }
    await new Promise(setImmediate);
    expect([await store.find('r1:model:1'), await store.find('r2:model:1')]).toEqual([null, null]);
    // What is not written is held.
    expect(await store.find('r0:model:1')).toMatchObject({ tokens: 7 });
    for (const n of [0, 1, 2, 2099]) expect(await store.sum(scope(`session:${n}`))).toMatchObject({ tokens: 7 });
  });

  it('counts while it is on its way to the database', async () => {
    await take('r:model:1', 7);
    beginMany(store);
    const told = store.journaled('r', { tokens: 7, cost: 7 })!;
    const durable = opened.database.commit(told.statements);
    await new Promise(setImmediate);
    await reserved(entry('q:model:1', 1));
    await durable;
    told.committed();
    expect(await sum()).toBe(8);
  });

  it('is written when its batch was lost after what nobody uses was let go', async () => {
    await take('r:model:1', 7);
    beginMany(store);
    const told = store.journaled('r', { tokens: 7, cost: 7 })!;
    await new Promise(setImmediate);
    told.discard();
    await tell('r', 7);
    expect(await sum()).toBe(7);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('counts when its reservation had expired, and its sums had been let go and read again', async () => {
    const late = await reserved(entry('r:model:1', 100, ['session:s', 'run:r']));
    await store.settle(late, { tokens: 0, cost: 0 }, NOW);
    beginMany(store);
    await new Promise(setImmediate);
    await reserved(entry('q:model:1', 1));
    expect(await store.settle((await store.find(late.id))!, { tokens: 7, cost: 7 }, NOW)).toBe(true);
    expect([await sum(), await store.sum(scope('run:r'))]).toEqual([8, { tokens: 7, cost: 7 }]);
    await crash();
    expect([await sum(), await store.sum(scope('run:r'))]).toEqual([7, { tokens: 7, cost: 7 }]);
  });

  it('is written once, however often it is settled', async () => {
    const held = await reserved(entry('r:model:1', 100));
    for (let time = 0; time < 2; time++) {
      const there = (await store.find(held.id))!;
      expect(await store.settle(there, { tokens: 7, cost: 7 }, NOW)).toBe(true);
    }
    expect(await sum()).toBe(7);
    await crash();
    expect(await sum()).toBe(7);
  });
});

it('forgets what a process that crashed has left reserved in the database', async () => {
  const shared = new SharedBudgetStore(opened.database);
  await shared.open([scope('session:s')], NOW);
  for (const id of ['r:model:1', 'q:model:1']) {
    expect(await shared.reserve(entry(id, 100), null, [scope('session:s')], NOW)).toBeNull();
  }
  await shared.settle(entry('q:model:1', 100), { tokens: 4, cost: 4 }, NOW);
  expect(await sum()).toBe(4);
});

it('refuses with the first budget that has no room, and keeps what was there', async () => {
  await take('r:model:1', 7);
  const before = await store.find('r:model:1');
  const scopes = [scope('session:s'), scope('day:d', { tokens: 20, cost: 20 })];
  const more = entry('r:model:1', 21, ['session:s', 'day:d']);
  expect(await store.reserve(more, before, scopes, NOW)).toEqual({ kind: 'full', scope: scopes[1] });
  expect(await store.find('r:model:1')).toEqual(before);
  expect(await sum()).toBe(7);
});

it('is not replaced while a call goes on, nor asked meanwhile', async () => {
  const held = await reserved(entry('r:model:1', 100));
  const sums = new Map([[scope('session:s'), { tokens: 50, cost: 50 }]]);
  expect(await store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  await store.settle(held, { tokens: 7, cost: 7 }, NOW - 5, { isTold: true });
  // What the journal does not tell of yet would be lost.
  expect(await store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  const told = store.journaled('r', { tokens: 7, cost: 7 })!;
  expect(await store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  await opened.database.commit(told.statements);
  told.committed();
  const replaced = store.replaceAll(sums, NOW - 1, NOW);
  const next = store.reserve(entry('q:model:1', 100), null, [scope('session:s')], NOW);
  expect([await replaced, await next]).toEqual([true, null]);
  expect(await sum()).toBe(150);
});

it('has every reservation, whenever sums are replaced beside it', async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const own = createBudgetStore(opened.database);
    await own.sum(scope('run:x'));
    const key = `session:${ticks}`;
    const reserving = own.reserve(entry('r:model:1', 100, [key]), null, [scope(key)], NOW);
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    await own.replaceAll(new Map(), NOW - 1, NOW);
    await reserving;
    expect([ticks, await own.sum(scope(key))]).toEqual([ticks, { tokens: 100, cost: 100 }]);
  }
});

it('has no reservation that was made of sums which were replaced', async () => {
  const { promise: read, resolve: go } = Promise.withResolvers<void>();
  const query = opened.database.query.bind(opened.database);
  jest.spyOn(opened.database, 'query').mockImplementation(async (...asked) => {
    if (asked[0].includes('FROM budget_total')) await read;
    return query(...asked) as never;
  });
  const reserving = store.reserve(entry('r:model:1', 100), null, [scope('session:s')], NOW);
  await new Promise(setImmediate);
  const sums = new Map([[scope('session:s'), { tokens: 50, cost: 50 }]]);
  const replacing = store.replaceAll(sums, NOW - 1, NOW);
  go();
  expect([await replacing, await reserving]).toEqual([true, null]);
  expect(await sum()).toBe(150);
});

it('looks for no sum of what has just begun, and keeps those that are there', async () => {
  await take('old:model:1', 30);
  const query = jest.spyOn(opened.database, 'query');
  store.begun([scope('run:new'), scope('session:s')], NOW);
  await reserved(entry('new:model:1', 100, ['run:new', 'session:s']));
  expect(query).not.toHaveBeenCalled();
  expect([await store.sum(scope('run:new')), await sum()]).toEqual([{ tokens: 100, cost: 100 }, 130]);
});

it('takes no notice of a sum that is there no more', async () => {
  const before = entry('r:model:1', 5, ['gone']);
  expect(await store.reserve(entry('r:model:1', 100), before, [scope('session:s')], NOW)).toEqual({ kind: 'taken' });
});

it('tells what is wrong with the database, and answers once it is well', async () => {
  const query = jest.spyOn(opened.database, 'query').mockRejectedValueOnce(new AppError('INTERNAL', 'away'));
  await expect(sum()).rejects.toThrow('away');
  query.mockRestore();
  expect(await sum()).toBe(0);
});
