import type { LlmConfig } from '../../config/namespaces/index.js';
import type { Database } from '../../persistence/index.js';
import type { TokenCounterRegistry } from '../tokens/token-counter.registry.js';
import type { BudgetStore } from './budget.store.js';
import { StoredModelBudget } from './stored-model-budget.js';
import type { ModelBudget } from './model-budget.js';
import { OwnBudgetStore } from './own-budget.store.js';
import { SharedBudgetStore } from './shared-budget.store.js';

/** Creates the budgets of the server and of agents, whose totals are in the database. */
export function createModelBudget(
  { budget }: LlmConfig,
  counters: TokenCounterRegistry,
  database: Database,
): ModelBudget {
  return new StoredModelBudget(createBudgetStore(database), budget, (model) => counters.atHand(model));
}

/**
 * A database that only this process writes needs no query before each call. Applications of this process that share the
 * database share its store.
 */
export function createBudgetStore(database: Database): BudgetStore {
  const shared = new SharedBudgetStore(database);
  return database.isOwn ? database.shared(OwnBudgetStore, () => new OwnBudgetStore(database, shared)) : shared;
}
