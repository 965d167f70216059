import type { LlmConfig, ModelPrice } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import type { AgentBudgets, Usage } from '../chat.types.js';
import { factsOf, listPriceOf, type ModelPatterns, type NamedModel } from '../models/model-facts.js';

/** Number of tokens that a price is for. */
const PER_TOKENS = 1_000_000;
const BILLION = 1_000_000_000;

/** Cost of a call in the unit of the price, rounded to a billionth. */
export function costOf(
  { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 }: Usage,
  { input, output, cachedInput = input, cacheWrite = input }: ModelPrice,
): number {
  const plain = promptTokens - cachedTokens - cacheWriteTokens;
  const prompt = plain * input + cachedTokens * cachedInput + cacheWriteTokens * cacheWrite;
  return roundCost((prompt + completionTokens * output) / PER_TOKENS);
}

/** Rounds to a billionth, since sums of floating-point decimals are inexact. */
export function roundCost(cost: number): number;
export function roundCost(cost: number | undefined): number | undefined;
export function roundCost(cost: number | undefined): number | undefined {
  return cost === undefined ? undefined : Math.round(cost * BILLION) / BILLION;
}

/** Converts a cost to an integer, in billionths, which databases add exactly. */
export function toUnits(cost: number): number {
  return Math.round(cost * BILLION);
}

/** Converts billionths to a cost. */
export function fromUnits(units: number): number {
  return units / BILLION;
}

/** Prices, and the facts of `LLM_MODELS_FILE`. */
interface Priced {
  readonly prices: LlmConfig['prices'];
  readonly hasListPrices?: boolean;
  readonly models?: ModelPatterns;
}

/** The built-in model of fixed rules, which is free. */
export const FREE_PROVIDER = 'offline';

/** The price of a model, by `provider:name` or by its name; with the price of cache writes if it differs from `input`. */
export function priceOf(model: NamedModel, priced: Priced): ModelPrice | undefined {
  const price = givenPrice(model, priced);
  const { cacheWriteRate } = factsOf(model, priced.models);
  if (!price || price.cacheWrite !== undefined || cacheWriteRate === undefined) return price;
  return { ...price, cacheWrite: price.input * cacheWriteRate };
}

function givenPrice(model: NamedModel, { prices, hasListPrices = false }: Priced): ModelPrice | undefined {
  const own = ownPrice(prices, `${model.provider}:${model.name}`) ?? ownPrice(prices, model.name);
  return own ?? (hasListPrices ? listPriceOf(model) : undefined);
}

/** Whether one of the budgets limits cost. */
export function isCosted({ run, session, tenantDay, day }: AgentBudgets): boolean {
  return [run, session, tenantDay, day].some((limit) => limit?.cost !== undefined);
}

/** Whether a cost budget can limit the calls of a model. */
export function isPriced(model: NamedModel, priced: Priced): boolean {
  return model.provider === FREE_PROVIDER || givenPrice(model, priced) !== undefined;
}

/**
 * Rejects models without a price, which a cost budget cannot limit.
 * @throws AppError `CONFIG_INVALID` with the first such model and the missing entry
 */
export function assertPriced(models: readonly NamedModel[], priced: Priced): void {
  // An empty name means an unknown provider, which is a separate error.
  const missing = models.find((model) => model.name !== '' && !isPriced(model, priced));
  if (!missing) return;
  const entry = `"${missing.provider}:${missing.name}": {"input": …, "output": …}`;
  throw new AppError(
    'CONFIG_INVALID',
    `there is a budget of cost, and the model ${missing.name} of ${missing.provider} has no price: ` +
      `add ${entry} to LLM_PRICES (0 for a model that costs nothing), or limit tokens instead`,
  );
}

function ownPrice(prices: Priced['prices'], name: string): ModelPrice | undefined {
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
}
