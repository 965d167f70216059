import { AppError } from '../../errors/index.js';
import type { ModelPrice, LlmConfig } from '../../config/index.js';
import type { AgentBudgets } from '../chat.types.js';
import type { NamedModel } from '../context-window.policy.js';

type Prices = LlmConfig['prices'];

/** The built-in model of fixed rules, which is free. */
const FREE_PROVIDER = 'offline';

/** The price of a model, by `provider:name` or by its name. */
export function priceOf({ provider, name }: NamedModel, prices: Prices): ModelPrice | undefined {
  return own(prices, `${provider}:${name}`) ?? own(prices, name);
}

/** Whether one of the budgets limits cost. */
export function isCosted({ run, session, tenantDay, day }: AgentBudgets): boolean {
  return [run, session, tenantDay, day].some((limit) => limit?.cost !== undefined);
}

/** Whether a cost budget can limit the calls of a model. */
export function isPriced(model: NamedModel, prices: Prices): boolean {
  return model.provider === FREE_PROVIDER || priceOf(model, prices) !== undefined;
}

/**
 * Rejects models without a price, which a cost budget cannot limit.
 * @throws AppError `CONFIG_INVALID` with the first such model and the missing entry
 */
export function assertPriced(models: readonly NamedModel[], prices: Prices): void {
  // An empty name means an unknown provider, which is a separate error.
  const missing = models.find((model) => model.name !== '' && !isPriced(model, prices));
  if (!missing) return;
  const entry = `"${missing.provider}:${missing.name}": {"input": …, "output": …}`;
  throw new AppError(
    'CONFIG_INVALID',
    `there is a budget of cost, and the model ${missing.name} of ${missing.provider} has no price: ` +
      `add ${entry} to LLM_PRICES (0 for a model that costs nothing), or limit tokens instead`,
  );
}

function own(prices: Prices, name: string): ModelPrice | undefined {
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
}
