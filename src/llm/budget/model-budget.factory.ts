import type { AppConfig } from '../../config/index.js';
import type { Database } from '../../persistence/index.js';
import type { TokenCounterRegistry } from '../tokens/token-counter.registry.js';
import type { BudgetStore } from './budget.store.js';
import { StoredModelBudget } from './stored-model-budget.js';
import type { ModelBudget } from './model-budget.js';
import { OwnBudgetStore } from './own-budget.store.js';
import { SharedBudgetStore } from './shared-budget.store.js';

/** The budgets of the server and of agents; `null` without a database, which counts them. */
export function createModelBudget(
  { llm }: AppConfig,
  counters: TokenCounterRegistry,
  database?: Database,
): ModelBudget | null {
  if (!database) return null;
  return new StoredModelBudget(createBudgetStore(database), llm.budget, (model) => counters.atHand(model));
}

/**
 * Where no other process writes, sums need not be asked of the database before each call. Applications of this process that share the
 * database share them too.
 */
export function createBudgetStore(database: Database): BudgetStore {
  const shared = new SharedBudgetStore(database);
  return database.isOwn ? database.shared(OwnBudgetStore, () => new OwnBudgetStore(database, shared)) : shared;
}
