import { z } from 'zod';
import { messageOf } from '../errors/index.js';
import { describeJsonFault, parseJson, readText } from '../kernel/json/index.js';

/** Prices per million tokens, in any unit that is the same for all models. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Price of input tokens from the provider's cache; by default as `input`. */
  readonly cachedInput?: number | undefined;
  /**
   * Price of input tokens that the provider writes to its cache; by default 1.25 times `input` for the providers that
   * charge for it, else as `input`.
   */
  readonly cacheWrite?: number | undefined;
}

const MOST = 1_000_000;
const amount = z.number().min(0).max(MOST);
export const price = z.strictObject({
  input: amount,
  output: amount,
  cachedInput: amount.optional(),
  cacheWrite: amount.optional(),
});
const PRICES = z.record(z.string().regex(/\S/), price);
const EXAMPLE = '{"openai:gpt-5-mini": {"input": 0.25, "output": 2, "cachedInput": 0.025}}';

/** The list prices of the model tables, in US dollars. */
export const LIST_PRICES = 'list';

/** `LLM_PRICES`: a JSON object of prices by model, the path of a file with it, or `list`. */
export function prices() {
  return z.string().transform((text, context): Readonly<Record<string, ModelPrice>> | typeof LIST_PRICES => {
    if (text === LIST_PRICES) return text;
    try {
      return toPrices(JSON.parse(text.startsWith('{') ? text : readText(text)));
    } catch (error) {
      const message = `cannot be used: ${messageOf(error)}; give JSON such as ${EXAMPLE}, the path of such a file, or ${LIST_PRICES}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });
}

function toPrices(value: unknown): Readonly<Record<string, ModelPrice>> {
  const { data, error } = PRICES.safeParse(value);
  if (!error) return data;
  throw new Error(error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join(', '));
}

/** Levels of reasoning effort, in ascending order; `none` means no reasoning. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const tokens = z.int().min(1).max(100_000_000);

/** Known facts of a model; an omitted one is unknown. Sizes are tokens. */
const modelFacts = z.strictObject({
  /** Context window: prompt and reply. */
  contextTokens: tokens.optional(),
  /** Maximum length of a reply. */
  replyTokens: tokens.optional(),
  vision: z.boolean().optional(),
  imageUrls: z.boolean().optional(),
  audio: z.boolean().optional(),
  functionCalling: z.boolean().optional(),
  jsonMode: z.boolean().optional(),
  forcedToolChoice: z.boolean().optional(),
  /** Supported levels of effort, as the provider names them; `[]` for a model without effort. */
  effort: z.array(z.enum(EFFORTS)).readonly().optional(),
  /** Price of tokens that the provider writes to its cache, as a multiple of the input price; default 1. */
  cacheWriteRate: z.number().min(0).max(10).optional(),
  price: price.optional(),
});
export type ModelFacts = Readonly<z.output<typeof modelFacts>>;

/** Facts by pattern of the model's name, where `*` means any characters; the first pattern with a fact applies. */
export type ModelPatterns = Readonly<Record<string, ModelFacts>>;

/** A price is of one model, since budgets look it up by name. */
function isExact(models: ModelPatterns): boolean {
  return Object.entries(models).every(([name, { price: own }]) => own === undefined || !name.includes('*'));
}

const FILE = z.strictObject({
  models: z
    .record(z.string().regex(/^\S+$/, 'must be the name of a model, or provider:name'), modelFacts)
    .refine(isExact, 'a name with * cannot have a price: name the model'),
});

const DEFAULT_PATH = 'config/models.json';

interface ReadModels {
  readonly models: ModelPatterns;
  readonly mistakes: readonly string[];
}

function wrong(...mistakes: string[]): ReadModels {
  return { models: {}, mistakes };
}

/**
 * Reads the file of model facts, which override the built-in tables.
 * @param named the value of `LLM_MODELS_FILE`
 * @param hasDefault whether the default file is read if none is named
 * @returns the facts by `provider:model` or model, and the errors, each with the file and the path in it
 */
export function readModels(named: string | undefined, hasDefault: boolean): ReadModels {
  const path = named ?? DEFAULT_PATH;
  if (named === undefined && !hasDefault) return wrong();
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    const isAbsent = named === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return isAbsent ? wrong() : wrong(`${path} cannot be read: ${messageOf(cause)}`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return wrong(`${path} is not JSON (${describeJsonFault(parsed.fault, text)}).`);
  const { data, error } = FILE.safeParse(parsed.value);
  if (data) return { models: data.models, mistakes: [] };
  return wrong(...error.issues.map((issue) => `${path}: ${pathOf(issue.path)}: ${issue.message}`));
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the file' : path.map(String).join(' › ');
}
