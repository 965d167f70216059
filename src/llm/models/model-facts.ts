import type { ModelPrice } from '../../config/index.js';
import type { LlmConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import type { AgentBudgets, Usage } from '../chat/chat.types.js';
import anthropic from './anthropic.json' with { type: 'json' };
import deepseek from './deepseek.json' with { type: 'json' };
import gemini from './gemini.json' with { type: 'json' };
import glm from './glm.json' with { type: 'json' };
import mistral from './mistral.json' with { type: 'json' };
import moonshot from './moonshot.json' with { type: 'json' };
import ollama from './ollama.json' with { type: 'json' };
import openai from './openai.json' with { type: 'json' };

/** Facts by pattern of the model's name, where `*` means any characters; the first pattern with a fact applies. */
export type ModelPatterns = LlmConfig['models'];
type ModelFacts = ModelPatterns[string];

/** A model: its provider, as in `LLM_PROVIDER`, and its name. */
export interface NamedModel {
  readonly provider: string;
  readonly name: string;
}

/** The facts of one provider's models. */
export interface ModelTable {
  /** Day of the last check, as `YYYY-MM-DD`. */
  readonly date: string;
  readonly sources: readonly string[];
  readonly models: ModelPatterns;
}

/** The built-in tables, by file. */
export const MODEL_TABLES = {
  openai,
  anthropic,
  deepseek,
  glm,
  gemini,
  mistral,
  moonshot,
  ollama,
} as unknown as Readonly<Record<string, ModelTable>>;

/** Pattern of facts that apply to every model of a provider, known or not. */
const EVERY = '*';

interface Row {
  readonly pattern: string;
  readonly regExp: RegExp;
  readonly facts: ModelFacts;
}

const { ollama: local, ...vendors } = MODEL_TABLES;
/** Models of a local server: their windows are settings of the server. */
const LOCAL = rowsOf(local!.models);
/** The names of vendors are disjoint, and gateways serve models of all vendors. */
const VENDORS = Object.values(vendors).flatMap(({ models }) => rowsOf(models));

const compiled = new WeakMap<ModelPatterns, readonly Row[]>();

const NO_PATTERNS: ModelPatterns = {};
/** Facts by patterns, then by `provider:name`: each run asks for those of its model. */
const found = new WeakMap<ModelPatterns, Map<string, ModelFacts>>();
/** A request may name any model. */
const MAX_FOUND = 1000;

/**
 * The facts of a model: each from the first pattern that has it, of the own patterns first.
 * @param own facts of `LLM_MODELS_FILE`, by patterns of `provider:name` or the name
 */
export function factsOf(model: NamedModel, own: ModelPatterns = NO_PATTERNS): ModelFacts {
  const known = found.get(own) ?? new Map<string, ModelFacts>();
  found.set(own, known);
  const key = `${model.provider}:${model.name}`;
  let facts = known.get(key);
  if (!facts) {
    facts = merged(matching(model, own));
    if (known.size >= MAX_FOUND) known.clear();
    known.set(key, facts);
  }
  return facts;
}

/** The facts that the own patterns state. */
export function ownFactsOf(model: NamedModel, own: ModelPatterns): ModelFacts {
  return merged(ownMatches(model, own));
}

/** Whether a table or an own pattern has the model. */
export function isKnown(model: NamedModel, own: ModelPatterns = NO_PATTERNS): boolean {
  return matching(model, own).some(({ pattern }) => pattern !== EVERY);
}

/**
 * The list price of a provider's own model per million tokens, in US dollars; undefined if unknown. Long prompts, tiers and
 * contracts may cost more or less.
 */
export function listPriceOf({ provider, name }: NamedModel): ModelFacts['price'] {
  const models = MODEL_TABLES[provider]?.models ?? {};
  return Object.hasOwn(models, name) ? models[name]?.price : undefined;
}

/** The context window of a model, in tokens; undefined if unknown. */
export function contextWindowOf(model: NamedModel, own: ModelPatterns = NO_PATTERNS): number | undefined {
  return factsOf(model, own).contextTokens;
}

/** History budget that fits every model in use, in tokens. */
const UNKNOWN_BUDGET = 8000;
const MOST_BUDGET = 16_000;
const WINDOW_SHARE = 1 / 4;

/**
 * Default history budget, in tokens: a quarter of the smallest context window, at most 16,000; 8,000 for a model whose
 * window is unknown.
 */
export function defaultContextTokens(models: readonly NamedModel[], own: ModelPatterns = NO_PATTERNS): number {
  const budgets = models.map((model) => {
    const window = contextWindowOf(model, own);
    return window === undefined ? UNKNOWN_BUDGET : Math.min(Math.floor(window * WINDOW_SHARE), MOST_BUDGET);
  });
  return Math.min(...budgets, MOST_BUDGET);
}

function matching(model: NamedModel, own: ModelPatterns): Row[] {
  const table = model.provider === 'ollama' ? LOCAL : VENDORS;
  const plain = plainName(model.name.toLowerCase());
  return [...ownMatches(model, own), ...table.filter(({ regExp }) => regExp.test(plain))];
}

function ownMatches({ provider, name }: NamedModel, own: ModelPatterns): Row[] {
  const names = [`${provider}:${name}`, name].map((one) => one.toLowerCase());
  return ownRows(own).filter(({ regExp }) => names.some((one) => regExp.test(one)));
}

/** Each fact of the first row that has it. */
function merged(rows: readonly Row[]): ModelFacts {
  return Object.assign({}, ...rows.map(({ facts }) => facts).toReversed()) as ModelFacts;
}

/** The name as in the tables: gateways prefix it with the vendor (`openai/gpt-4o`), or write `claude-sonnet-4.5`. */
function plainName(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1).replace(/^ft:/, '');
  return last.includes('claude') ? last.replaceAll('.', '-') : last;
}

function ownRows(own: ModelPatterns): readonly Row[] {
  let rows = compiled.get(own);
  if (!rows) compiled.set(own, (rows = rowsOf(own)));
  return rows;
}

function rowsOf(models: ModelPatterns): Row[] {
  return Object.entries(models).map(([pattern, facts]) => ({ pattern, facts, regExp: toRegExp(pattern) }));
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.toLowerCase().split('*');
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w:-]/g, String.raw`\$&`)).join('.*')}$`, 's');
}

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
