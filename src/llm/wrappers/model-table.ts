import type { LlmConfig, ModelPrice } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import type { AgentBudgets, Usage } from '../chat.types.js';

/** History budget that fits every model in use, in tokens. */
const UNKNOWN_BUDGET = 8000;
const MOST_BUDGET = 16_000;
const WINDOW_SHARE = 1 / 4;

const K = 1024;

/**
 * Context windows in tokens by model name; the first matching pattern applies. From the providers' model pages:
 * platform.openai.com/docs/models, docs.claude.com/en/docs/about-claude/models,
 * api-docs.deepseek.com/quick_start/pricing, docs.bigmodel.cn, ai.google.dev/gemini-api/docs/models, docs.mistral.ai,
 * platform.moonshot.ai.
 */
const WINDOWS: readonly (readonly [pattern: RegExp, window: number])[] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-5(?:\.\d+)?-chat/, 128_000],
  [/^gpt-(?:[5-9]|\d\d)/, 400_000],
  [/^(?:gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125|vision)|o1-(?:mini|preview))/, 128_000],
  [/^gpt-4-32k/, 32_768],
  [/^gpt-4(?:-\d|$)/, 8192],
  [/^gpt-3\.?5-turbo-instruct/, 4096],
  [/^gpt-3\.?5/, 16_385],
  [/^(?:o\d|codex)/, 200_000],
  [/^gpt-oss/, 128 * K],
  [/^claude-(?:instant|2\.0)/, 100_000],
  [/^(?:claude|anthropic\.claude)/, 200_000],
  [/^deepseek/, 128_000],
  [/^glm-4-long/, 1_000_000],
  [/^glm-4\.5v/, 64_000],
  [/^glm-4v/, 16_000],
  [/^glm-(?:4\.[6-9]|[5-9])/, 200_000],
  [/^glm-4/, 128_000],
  [/^gemini-1\.0|^gemini-pro$/, 32_768],
  [/^gemini/, 1_048_576],
  [/^(?:mistral-(?:large|medium|small)|ministral|codestral|pixtral|devstral|magistral)/, 128_000],
  [/^(?:open-)?(?:mistral-7b|mixtral-8x7b)/, 32_768],
  [/^(?:kimi|moonshot-v1-128k)/, 128 * K],
  [/^moonshot-v1-32k/, 32 * K],
  [/^moonshot-v1-8k/, 8 * K],
];

/** A model: its provider, as in `LLM_PROVIDER`, and its name. */
export interface NamedModel {
  readonly provider: string;
  readonly name: string;
}

/** The context window of a model, in tokens; undefined if unknown. */
export function contextWindowOf({ provider, name }: NamedModel): number | undefined {
  // The window of a local model is a setting of its server.
  if (provider === 'ollama') return undefined;
  // Gateways prefix the name with the vendor: `openai/gpt-4o`.
  const own = name.toLowerCase().split('/').at(-1) ?? '';
  return WINDOWS.find(([pattern]) => pattern.test(own))?.[1];
}

/**
 * Default history budget, in tokens: a quarter of the smallest context window, at most 16,000; 8,000 for a model whose
 * window is unknown.
 */
export function defaultContextTokens(models: readonly NamedModel[]): number {
  const budgets = models.map((model) => {
    const window = contextWindowOf(model);
    return window === undefined ? UNKNOWN_BUDGET : Math.min(Math.floor(window * WINDOW_SHARE), MOST_BUDGET);
  });
  return Math.min(...budgets, MOST_BUDGET);
}

/** Number of tokens that a price is for. */
const PER_TOKENS = 1_000_000;
const BILLION = 1_000_000_000;

/** Cost of a call in the unit of the price, rounded to a billionth. */
export function costOf(
  { promptTokens, completionTokens, cachedTokens = 0 }: Usage,
  { input, output, cachedInput = input }: ModelPrice,
): number {
  const price = (promptTokens - cachedTokens) * input + cachedTokens * cachedInput + completionTokens * output;
  return roundCost(price / PER_TOKENS);
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

type Prices = LlmConfig['prices'];

/** The built-in model of fixed rules, which is free. */
const FREE_PROVIDER = 'offline';

/** The price of a model, by `provider:name` or by its name. */
export function priceOf({ provider, name }: NamedModel, prices: Prices): ModelPrice | undefined {
  return ownPrice(prices, `${provider}:${name}`) ?? ownPrice(prices, name);
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

function ownPrice(prices: Prices, name: string): ModelPrice | undefined {
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
}
