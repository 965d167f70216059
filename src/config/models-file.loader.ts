import { z } from 'zod';
import { messageOf } from '../errors/index.js';
import { parseJson, readText } from '../kernel/index.js';
import { price } from './price.parser.js';

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
  if (!parsed.ok) return wrong(`${path} is not JSON (${parsed.fault.kind}).`);
  const { data, error } = FILE.safeParse(parsed.value);
  if (data) return { models: data.models, mistakes: [] };
  return wrong(...error.issues.map((issue) => `${path}: ${pathOf(issue.path)}: ${issue.message}`));
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'the file' : path.map(String).join(' › ');
}
