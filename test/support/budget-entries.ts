import { runIdOf } from '../../src/llm/budget/budget-row.mapper.js';
import type { BudgetStore } from '../../src/llm/budget/budget.store.js';
import type { BudgetEntry, BudgetScope } from '../../src/llm/budget/budget.types.js';

export const NOW = Date.UTC(2027, 0, 15, 12);
const MANY = { tokens: 1e9, cost: 1e9 };

export function scope(key: string, limit = MANY): BudgetScope {
  return { name: 'session', key, tenant: 't', limit, resetsAt: null };
}

export function entry(id: string, tokens: number, scopes = ['session:s'], holder = `${id}#`): BudgetEntry {
  return { id, runId: runIdOf(id), tenant: 't', holder, tokens, cost: tokens, scopes, expiresAt: NOW + 1 };
}

/** Starts enough runs that the store evicts idle totals in the next turn of the event loop. */
export function beginMany(store: BudgetStore): void {
  for (let n = 0; n < 1001; n++) store.onStarted([scope(`run:${n}`)], NOW);
}
