import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { beginMany, entry, NOW, scope } from '../../../test/support/budget-entries.js';
import { BudgetWorld } from '../../../test/support/budget-world.js';
import { AppError } from '../../errors/index.js';
import { OwnBudgetStore } from './own-budget.store.js';
import { SharedBudgetStore } from './shared-budget.store.js';

const world = new BudgetWorld();
beforeEach(() => world.open());
afterEach(() => {
  vi.useRealTimers();
  return world.close();
});

it('is the store of a database that only this process uses', () => {
  expect(world.store).toBeInstanceOf(OwnBudgetStore);
});

describe('usage of calls', () => {
  it('is written in the batch that journals it, and then survives a crash', async () => {
    await world.take('r:model:1', 7);
    await world.take('r:model:2', 5);
    await world.take('q:model:1', 3);
    expect(await world.sum()).toBe(15);
    await world.reportUsage('r', 5);
    expect(world.store.journaled('r', [{ tokens: 5, cost: 5 }], false)).toBeNull();
    await world.crash();
    expect(await world.sum()).toBe(5);
    await world.take('r:model:1', 7);
    await world.reportUsage('r', 7);
    await world.crash();
    expect(await world.sum()).toBe(12);
  });

  it('is written separately if no journal records it', async () => {
    await world.take('r:model:1', 7, false);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('is written separately after a delay without a journal batch', async () => {
    vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    await world.take('r:model:1', 7);
    await vi.advanceTimersByTimeAsync(20_000);
    vi.useRealTimers();
    await new Promise(setImmediate);
    expect(world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)).toBeNull();
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('is written separately when its journal batch fails after the delay', async () => {
    vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    await world.take('r:model:1', 7);
    const reported = world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)!;
    await vi.advanceTimersByTimeAsync(20_000);
    reported.discard();
    await vi.advanceTimersByTimeAsync(20_000);
    vi.useRealTimers();
    await new Promise(setImmediate);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('counts once when a step calls again, whether it was written or not', async () => {
    await world.take('r:model:1', 7);
    await world.take('q:model:1', 5, false);
    await world.take('r:model:1', 6);
    await world.take('q:model:1', 4);
    expect(await world.sum()).toBe(10);
    await world.reportUsage('r', 6);
    await world.crash();
    expect(await world.sum()).toBe(6);
    await world.take('q:model:1', 4);
    await world.reportUsage('q', 4);
    await world.crash();
    expect(await world.sum()).toBe(10);
  });

  it('is written later when its batch was rejected', async () => {
    await world.take('r:model:1', 7);
    world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)!.discard();
    await world.reportUsage('r', 7);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('is counted, and written later, when the database fails', async () => {
    const fault = vi.spyOn(world.opened.database, 'commit').mockRejectedValueOnce(new Error('full'));
    await expect(world.take('r:model:1', 7, false)).rejects.toThrow('full');
    fault.mockRestore();
    expect(await world.sum()).toBe(7);
    await world.reportUsage('r', 7);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('stays available to concurrent reservations', async () => {
    const ask = async (n: number) => {
      const one = await world.reserved(entry(`r${n}:model:1`, 1, [`session:${n}`]));
      await world.store.settle(one, { tokens: 7, cost: 7 }, NOW, { isReported: true });
      await world.reportUsage(`r${n}`, 7);
    };
    await Promise.all(Array.from({ length: 3000 }, (_, n) => ask(n)));
    expect(await world.store.sum(scope('session:0'))).toMatchObject({ tokens: 7 });
  });

  it('stays unchanged when a repeated step cannot replace it', async () => {
    await world.take('r:model:1', 7, false);
    const before = await world.store.find('r:model:1');
    const fault = vi.spyOn(world.opened.database, 'commit').mockRejectedValueOnce(new Error('full'));
    const sqlAndValues = world.store.reserve(entry('r:model:1', 100), before, [scope('session:s')], NOW);
    await expect(sqlAndValues).rejects.toThrow('full');
    fault.mockRestore();
    expect([await world.store.find('r:model:1'), await world.sum()]).toEqual([before, 7]);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('is loaded again after its eviction', async () => {
    for (let n = 0; n < 2100; n++) {
      const one = await world.reserved(entry(`r${n}:model:1`, 100, [`session:${n}`]));
      await world.store.settle(one, { tokens: 7, cost: 7 }, NOW, { isReported: n === 0 || n > 400 });
      if (n > 400) await world.reportUsage(`r${n}`, 7);
    }
    await new Promise(setImmediate);
    const found = await Promise.all([1, 2099].map((n) => world.store.find(`r${n}:model:1`)));
    expect(found).toEqual([null, null]);
    // Unwritten usage is not evicted.
    expect(await world.store.find('r0:model:1')).toMatchObject({ tokens: 7 });
    for (const n of [0, 1, 2, 2099]) expect(await world.store.sum(scope(`session:${n}`))).toMatchObject({ tokens: 7 });
  });

  it('counts while its batch is in progress', async () => {
    await world.take('r:model:1', 7);
    beginMany(world.store);
    const reported = world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)!;
    const durable = world.opened.database.commit(reported.statements);
    await new Promise(setImmediate);
    await world.reserved(entry('q:model:1', 1));
    await durable;
    reported.committed();
    expect(await world.sum()).toBe(8);
  });

  it('is written when its batch fails after an eviction of idle totals', async () => {
    await world.take('r:model:1', 7);
    beginMany(world.store);
    const reported = world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)!;
    await new Promise(setImmediate);
    reported.discard();
    await world.reportUsage('r', 7);
    expect(await world.sum()).toBe(7);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });

  it('is not taken for zero when its total is evicted while another one loads', async () => {
    await world.take('r:model:1', 7, false);
    const query = world.opened.database.query.bind(world.opened.database);
    vi.spyOn(world.opened.database, 'query').mockImplementationOnce(async (...sqlAndValues) => {
      const rows = await query(...sqlAndValues);
      beginMany(world.store);
      await new Promise(setImmediate);
      return rows;
    });
    await world.reserved(entry('q:model:1', 1, ['session:s', 'session:new']));
    expect(await world.sum()).toBe(8);
  });

  it('counts when its reservation has expired and its totals were evicted and loaded again', async () => {
    const late = await world.reserved(entry('r:model:1', 100, ['session:s', 'run:r']));
    await world.store.settle(late, { tokens: 0, cost: 0 }, NOW);
    beginMany(world.store);
    await new Promise(setImmediate);
    await world.reserved(entry('q:model:1', 1));
    expect(await world.store.settle((await world.store.find(late.id))!, { tokens: 7, cost: 7 }, NOW)).toBe(true);
    expect([await world.sum(), await world.store.sum(scope('run:r'))]).toEqual([8, { tokens: 7, cost: 7 }]);
    await world.crash();
    expect([await world.sum(), await world.store.sum(scope('run:r'))]).toEqual([7, { tokens: 7, cost: 7 }]);
  });

  it('is written once, however often it settles', async () => {
    const held = await world.reserved(entry('r:model:1', 100));
    for (let time = 0; time < 2; time++) {
      const there = (await world.store.find(held.id))!;
      expect(await world.store.settle(there, { tokens: 7, cost: 7 }, NOW)).toBe(true);
    }
    expect(await world.sum()).toBe(7);
    await world.crash();
    expect(await world.sum()).toBe(7);
  });
});

it('releases the reservations of a crashed process', async () => {
  const shared = new SharedBudgetStore(world.opened.database);
  await shared.open([scope('session:s')], NOW);
  for (const id of ['r:model:1', 'q:model:1']) {
    expect(await shared.reserve(entry(id, 100), null, [scope('session:s')], NOW)).toBeNull();
  }
  await shared.settle(entry('q:model:1', 100), { tokens: 4, cost: 4 }, NOW);
  expect(await world.sum()).toBe(4);
});

it('rejects with the first budget without room, and keeps the previous entry', async () => {
  await world.take('r:model:1', 7);
  const before = await world.store.find('r:model:1');
  const scopes = [scope('session:s'), scope('day:d', { tokens: 20, cost: 20 })];
  const more = entry('r:model:1', 21, ['session:s', 'day:d']);
  expect(await world.store.reserve(more, before, scopes, NOW)).toEqual({ kind: 'full', scope: scopes[1] });
  expect(await world.store.find('r:model:1')).toEqual(before);
  expect(await world.sum()).toBe(7);
});

it('does not replace totals during a call, and blocks reservations during a replacement', async () => {
  const held = await world.reserved(entry('r:model:1', 100));
  const sums = new Map([[scope('session:s'), { tokens: 50, cost: 50 }]]);
  expect(await world.store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  await world.store.settle(held, { tokens: 7, cost: 7 }, NOW - 5, { isReported: true });
  // Usage that is not journaled yet would be lost.
  expect(await world.store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  const reported = world.store.journaled('r', [{ tokens: 7, cost: 7 }], false)!;
  expect(await world.store.replaceAll(sums, NOW - 1, NOW)).toBe(false);
  await world.opened.database.commit(reported.statements);
  reported.committed();
  const replaced = world.store.replaceAll(sums, NOW - 1, NOW);
  const next = world.store.reserve(entry('q:model:1', 100), null, [scope('session:s')], NOW);
  expect([await replaced, await next]).toEqual([true, null]);
  expect(await world.sum()).toBe(150);
});

it('loses no reservation when totals are replaced at the same time', async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const { database } = world.opened;
    const own = new OwnBudgetStore(database, new SharedBudgetStore(database));
    await own.sum(scope('run:x'));
    const key = `session:${ticks}`;
    const reserving = own.reserve(entry('r:model:1', 100, [key]), null, [scope(key)], NOW);
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    await own.replaceAll(new Map(), NOW - 1, NOW);
    await reserving;
    expect([ticks, await own.sum(scope(key))]).toEqual([ticks, { tokens: 100, cost: 100 }]);
  }
});

it('makes no reservation against replaced totals', async () => {
  const { promise: read, resolve: go } = Promise.withResolvers<void>();
  const query = world.opened.database.query.bind(world.opened.database);
  vi.spyOn(world.opened.database, 'query').mockImplementation(async (...sqlAndValues) => {
    if (sqlAndValues[0].includes('FROM budget_total')) await read;
    return query(...sqlAndValues) as never;
  });
  const reserving = world.store.reserve(entry('r:model:1', 100), null, [scope('session:s')], NOW);
  await new Promise(setImmediate);
  const sums = new Map([[scope('session:s'), { tokens: 50, cost: 50 }]]);
  const replacing = world.store.replaceAll(sums, NOW - 1, NOW);
  go();
  expect([await replacing, await reserving]).toEqual([true, null]);
  expect(await world.sum()).toBe(150);
});

it('queries no total of a new run, and keeps existing totals', async () => {
  await world.take('old:model:1', 30);
  const query = vi.spyOn(world.opened.database, 'query');
  world.store.onStarted([scope('run:new'), scope('session:s')], NOW);
  await world.reserved(entry('new:model:1', 100, ['run:new', 'session:s']));
  expect(query).not.toHaveBeenCalled();
  expect([await world.store.sum(scope('run:new')), await world.sum()]).toEqual([{ tokens: 100, cost: 100 }, 130]);
});

it('ignores a total that no longer exists', async () => {
  const before = entry('r:model:1', 5, ['gone']);
  expect(await world.store.reserve(entry('r:model:1', 100), before, [scope('session:s')], NOW)).toEqual({
    kind: 'taken',
  });
});

it('reports a database error, and recovers after it', async () => {
  const query = vi.spyOn(world.opened.database, 'query').mockRejectedValueOnce(new AppError('INTERNAL', 'away'));
  await expect(world.sum()).rejects.toThrow('away');
  query.mockRestore();
  expect(await world.sum()).toBe(0);
});
