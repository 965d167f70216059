import { expect, it } from 'vitest';
import * as fc from 'fast-check';
import { entry, NOW, scope } from '../../../test/support/budget-entries.js';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import type { BudgetEntry } from './budget.types.js';
import type { BudgetStore } from './budget.store.js';
import { createBudgetStore } from './model-budget.factory.js';
import { SharedBudgetStore } from './shared-budget.store.js';

interface Happening {
  readonly id: string;
  readonly tokens: number;
  readonly end: 'settled' | 'broken' | 'open';
  readonly isReported: boolean;
}

const KEYS = ['session:s', 'day:d'];
const USED = { tokens: 3, cost: 2 };

/** @returns the outcome, and the totals after it */
async function happen(one: BudgetStore, wanted: BudgetEntry, { id, end, isReported }: Happening) {
  const scopes = wanted.scopes.map((key) => scope(key, { tokens: 30, cost: 30 }));
  const how = { isReported, ...(end === 'broken' && { id: `${id}~${wanted.holder}` }) };
  const refused = await one.reserve(wanted, await one.find(id), scopes, NOW);
  const settled = !refused && end !== 'open' && (await one.settle(wanted, USED, NOW, how));
  return { refused, settled, sums: await sumsOf(one) };
}

function sumsOf(one: BudgetStore) {
  return Promise.all(KEYS.map((key) => one.sum(scope(key))));
}

/** Journals the usage of all calls. */
async function reportAll(one: BudgetStore, { database }: OpenDatabase): Promise<void> {
  for (const runId of ['a', 'b', 'c']) {
    for (let reported; (reported = one.journaled(runId, [USED], false));) {
      await database.commit(reported.statements);
      reported.committed();
    }
  }
}

it('has the same totals as a database that is queried each time, after any sequence of operations', async () => {
  const happening = fc.record<Happening>({
    id: fc.constantFrom('a:1', 'a:2', 'b:1', 'c:1'),
    tokens: fc.integer({ min: 0, max: 9 }),
    end: fc.constantFrom('settled', 'broken', 'open'),
    isReported: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(happening, { maxLength: 20 }), async (all) => {
    const [here, there] = [await openDatabase(), await openDatabase()];
    const [own, shared] = [createBudgetStore(here.database), new SharedBudgetStore(there.database)];
    await shared.open(
      KEYS.map((key) => scope(key)),
      NOW,
    );
    const entries = all.map(({ id, tokens }, at) => entry(id, tokens, KEYS.slice(0, 1 + (at % 2)), `h${at}`));
    for (const [at, one] of all.entries()) {
      expect(await happen(own, entries[at]!, one)).toEqual(await happen(shared, entries[at]!, one));
    }
    for (const one of [own, shared]) for (const held of entries) await one.settle(held, { tokens: 0, cost: 0 }, NOW);
    await reportAll(own, here);
    // The state after a restart.
    expect(await sumsOf(createBudgetStore(here.database))).toMatchObject(await sumsOf(shared));
    await Promise.all([here.close(), there.close()]);
  });
  await fc.assert(property, { numRuns: 100 });
});
