import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { cpSync, rmSync } from 'node:fs';
import { newFolder } from '../../../test/support/jackdaw.js';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { AppError } from '../../common/index.js';
import { NOTHING, type BudgetEntry, type BudgetScope } from './budget.types.js';
import type { BudgetStore } from './budget.store.js';
import { createBudgetStore } from './model-budget.factory.js';
import { OwnBudgetStore } from './own-budget.store.js';
import { SharedBudgetStore } from './shared-budget.store.js';

const NOW = Date.UTC(2027, 0, 15, 12);
const MANY = { tokens: 1e9, cost: 1e9 };

let folders: string[];
let opened: OpenDatabase;
let store: BudgetStore;
beforeEach(async () => {
  folders = [newFolder()];
  await open();
});
afterEach(async () => {
  await opened.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  opened = await openDatabase({ DATA_DIR: folders.at(-1) });
  store = createBudgetStore(opened.database);
}

function scope(key: string, limit = MANY): BudgetScope {
  return { name: 'session', key, tenant: 't', limit, resetsAt: null };
}

function entry(id: string, tokens: number, scopes = ['session:s'], holder = `${id}#`): BudgetEntry {
  return { id, tenant: 't', holder, tokens, cost: tokens, scopes, expiresAt: NOW + 1000 };
}

async function reserved(one: BudgetEntry, before: BudgetEntry | null = null): Promise<BudgetEntry> {
  expect(
    await store.reserve(
      one,
      before,
      one.scopes.map((key) => scope(key)),
      NOW,
    ),
  ).toBeNull();
  return one;
}

async function take(id: string, tokens: number): Promise<void> {
  await store.settle(await reserved(entry(id, 100)), { tokens, cost: tokens }, NOW);
}

/** Something else is committed. */
function commit(): Promise<void> {
  return opened.database.commit([{ sql: 'DELETE FROM run WHERE id = ?', params: ['none'] }]);
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
  it('is written with whatever is committed next, and survives a crash then', async () => {
    await take('r:model:1', 7);
    await take('r:model:2', 5);
    expect(await sum()).toBe(12);
    await crash();
    expect(await sum()).toBe(0);
    await take('r:model:1', 7);
    await commit();
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is written after a second when nothing else is', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      await take('r:model:1', 7);
      await jest.advanceTimersByTimeAsync(1000);
    } finally {
      jest.useRealTimers();
    }
    await new Promise(setImmediate);
    await crash();
    expect(await sum()).toBe(7);
  });

  it('counts once when a step asks again after a crash', async () => {
    await take('r:model:1', 7);
    await commit();
    await crash();
    const before = await store.find('r:model:1');
    expect(await store.reserve(entry('r:model:1', 100), null, [scope('session:s')], NOW)).toEqual({ kind: 'taken' });
    const again = await reserved(entry('r:model:1', 100), before);
    expect(await sum()).toBe(100);
    // Not even when it crashes once more before it is settled.
    await commit();
    await crash();
    expect(await sum()).toBe(0);
    expect(await store.settle(again, MANY, NOW)).toBe(false);
    await take('r:model:1', 6);
    expect(await sum()).toBe(6);
  });

  it('is written later when it cannot be now', async () => {
    await opened.database.commit([
      { sql: "CREATE TRIGGER full BEFORE INSERT ON budget_entry BEGIN SELECT RAISE(ABORT, 'full'); END", params: [] },
    ]);
    await take('r:model:1', 7);
    await commit();
    await opened.database.commit([{ sql: 'DROP TRIGGER full', params: [] }]);
    await commit();
    await crash();
    expect(await sum()).toBe(7);
  });

  it('is found again when it is in memory no more', async () => {
    for (let n = 0; n < 1100; n++) await take(`r${n}:model:1`, 1);
    await commit();
    expect((await store.find('r0:model:1'))?.tokens).toBe(1);
    expect(await sum()).toBe(1100);
    await store.settle(
      await reserved(entry('r0:model:1', 100), await store.find('r0:model:1')),
      { tokens: 3, cost: 3 },
      NOW,
    );
    expect(await sum()).toBe(1102);
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
  expect(await store.find('r:model:1')).toMatchObject({ ...NOTHING, expiresAt: null });
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

it('has the same sums as a database that is asked each time, whatever happens', async () => {
  const step = fc.record({
    id: fc.constantFrom('a:1', 'a:2', 'b:1', 'c:1'),
    tokens: fc.integer({ min: 0, max: 9 }),
    end: fc.constantFrom('settled', 'broken', 'open'),
    isCommitted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const [own, other] = [await openDatabase(), await openDatabase()];
      const both = [createBudgetStore(own.database), new SharedBudgetStore(other.database)];
      const keys = ['session:s', 'day:d'];
      await both[1]!.open(
        keys.map((key) => scope(key)),
        NOW,
      );
      for (const [at, { id, tokens, end, isCommitted }] of steps.entries()) {
        const wanted = entry(id, tokens, at % 2 === 0 ? keys : keys.slice(0, 1), `h${at}`);
        const scopes = wanted.scopes.map((key) => scope(key, { tokens: 30, cost: 30 }));
        const said = [];
        for (const one of both) {
          const refused = await one.reserve(wanted, await one.find(id), scopes, NOW);
          const broken = end === 'broken' ? `${id}~h${at}` : id;
          const settled = !refused && end !== 'open' && (await one.settle(wanted, { tokens: 3, cost: 2 }, NOW, broken));
          said.push({ refused, settled, sums: await Promise.all(keys.map((key) => one.sum(scope(key)))) });
        }
        expect(said[0]).toEqual(said[1]);
        if (isCommitted) await own.database.commit([{ sql: 'DELETE FROM run WHERE id = ?', params: ['none'] }]);
      }
      await Promise.all([own.close(), other.close()]);
    }),
    { numRuns: 100 },
  );
});

it('is not replaced while a call goes on, nor asked meanwhile', async () => {
  const held = await reserved(entry('r:model:1', 100));
  const sums = new Map([[scope('session:s'), { tokens: 50, cost: 50 }]]);
  expect(await store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  await store.settle(held, { tokens: 7, cost: 7 }, NOW - 5);
  const replaced = store.replaceAll(sums, NOW - 1, NOW);
  const next = store.reserve(entry('q:model:1', 100), null, [scope('session:s')], NOW);
  expect([await replaced, await next]).toEqual([true, null]);
  expect(await sum()).toBe(150);
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

it('tells what is wrong with the database, and answers once it is well', async () => {
  const query = jest.spyOn(opened.database, 'query').mockRejectedValueOnce(new AppError('INTERNAL', 'away'));
  await expect(sum()).rejects.toThrow('away');
  query.mockRestore();
  expect(await sum()).toBe(0);
});
