import { afterEach, beforeEach, expect, it } from 'vitest';
import { entry } from '../../../test/support/budget-entries.js';
import { BudgetWorld } from '../../../test/support/budget-world.js';

const KEYS = ['run:r', 'session:s', 'agent_run:r'];

const world = new BudgetWorld();
beforeEach(() => world.open());
afterEach(() => world.close());

const ask = (id: string, keys = KEYS) => world.take(id, 7, true, keys);
const rows = () => world.opened.database.query('SELECT scope, tokens FROM budget_total ORDER BY scope');

it('deletes the total of a run when the run ends', async () => {
  await ask('r:model:1');
  await world.reportUsage('r', 7, true);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 7 }]);
  expect([await world.sum(), await world.sum('run:r')]).toEqual([7, 0]);
});

it('retains the total of an active run across a crash', async () => {
  await ask('r:model:1');
  await world.reportUsage('r', 7);
  expect(await rows()).toHaveLength(3);
  await world.crash();
  await ask('r:model:2');
  expect(await world.sum('run:r')).toBe(14);
  await world.reportUsage('r', 7, true);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 14 }]);
});

it('deletes the total of a run that ends without a further call', async () => {
  await ask('r:model:1');
  await world.reportUsage('r', 7);
  await world.reportUsage('r', [], true);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 7 }]);
  expect(world.store.journaled('r', [], true)).toBeNull();
});

it('deletes the total of a resumed run that ends without a call in this process', async () => {
  await ask('r:model:1');
  await world.reportUsage('r', 7);
  await world.crash();
  await world.reportUsage('r', [], true, true);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 7 }]);
});

it('counts each call that is journaled with the end of the run', async () => {
  for (const step of [1, 2, 3]) await ask(`r:model:${step}`);
  await world.reportUsage('r', [7, 7, 7], true);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 21 }]);
});

it('retains the total when the batch of the end is lost', async () => {
  await ask('r:model:1');
  await world.reportUsage('r', 7);
  await ask('r:model:2');
  world.store.journaled('r', [{ tokens: 7, cost: 7 }], true)!.discard();
  expect(await world.sum('run:r')).toBe(14);
  await world.reportUsage('r', 7);
  await world.crash();
  expect(await world.sum('run:r')).toBe(14);
});

it('retains the total of the root run when a child run ends', async () => {
  await ask('child:model:1', ['run:r', 'session:s']);
  await world.reportUsage('child', 7, true);
  await world.crash();
  expect([await world.sum(), await world.sum('run:r')]).toEqual([7, 7]);
});

it('retains the total in memory while a child run has an open reservation', async () => {
  await ask('r:model:1');
  const late = await world.reserved(entry('child:model:1', 100, ['run:r']));
  await world.reportUsage('r', 7, true);
  expect(await world.sum('run:r')).toBe(107);
  await world.store.settle(late, { tokens: 0, cost: 0 }, 0);
  expect(await world.sum('run:r')).toBe(7);
});

it('writes no total of an ended run when a late call settles', async () => {
  const late = await world.reserved(entry('child:model:1', 100, ['run:r', 'session:s']));
  await ask('r:model:1');
  await world.reportUsage('r', 7, true);
  await world.store.settle(late, { tokens: 5, cost: 5 }, 0);
  expect(await rows()).toEqual([{ scope: 'session:s', tokens: 12 }]);
});
