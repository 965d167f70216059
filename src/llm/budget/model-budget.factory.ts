import type { AppConfig } from '../../config/index.js';
import type { Database } from '../../persistence/index.js';
import type { TokenCounterRegistry } from '../tokens/token-counter.registry.js';
import { BudgetStore } from './budget.store.js';
import { DatabaseModelBudget } from './database-model-budget.js';
import type { ModelBudget } from './model-budget.js';

/** The budgets of the server and of agents; `null` without a database, which counts them. */
export function createModelBudget(
  { llm }: AppConfig,
  counters: TokenCounterRegistry,
  database?: Database,
): ModelBudget | null {
  if (!database) return null;
  return new DatabaseModelBudget(new BudgetStore(database), llm.budget, (model) => counters.atHand(model));
}
