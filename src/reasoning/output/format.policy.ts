import { AppError } from '../../errors/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import type { ResponseFormat } from '../../llm/chat/index.js';
import { createBoundedCheck } from '../../tool/input/index.js';

/** An answer as a value, or its problem with the location, as text for the model and the user. */
export type ParsedOutput =
  | { readonly kind: 'valid'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problem: string }
  /** The check did not complete; another answer would not help. */
  | { readonly kind: 'unchecked'; readonly problem: string };

type OutputCheck = (value: unknown) => ParsedOutput | Promise<ParsedOutput>;

/** Name of the answer in problem texts. */
const NAME = 'output';

/** Checks of the agents' formats, which are the same objects in every run. */
const known = new WeakMap<object, OutputCheck>();

const anyObject: OutputCheck = (value) =>
  isJsonObject(value) ? { kind: 'valid', value } : { kind: 'invalid', problem: 'it is not a JSON object' };

/** The check of a format. @throws AppError `TOOL_INVALID` for an unusable schema */
export function outputCheckOf(format: ResponseFormat): OutputCheck {
  if (format === 'json') return anyObject;
  let check = known.get(format.schema);
  if (!check) known.set(format.schema, (check = createCheck(format.schema)));
  return check;
}

/** Requests bring schemas, so the check is bounded. */
function createCheck(schema: Readonly<Record<string, unknown>>): OutputCheck {
  const check = createBoundedCheck(schema, NAME);
  return async (value) => {
    const checked = await check(value);
    if (checked.valid) return { kind: 'valid', value };
    return { kind: checked.isUndecided ? 'unchecked' : 'invalid', problem: checked.reason };
  };
}

/** Maximum characters of a schema as JSON; above the limit of every provider. */
const MAX_CHARACTERS = 65_536;
const MAX_LEVELS = 64;

/**
 * Rejects a schema that is too large, malformed, or refers to another document, which is never fetched.
 * @throws AppError `TOOL_INVALID` with the reason
 */
export function assertFormat(format: ResponseFormat): void {
  if (format === 'json') return;
  if (isDeeper(format.schema, MAX_LEVELS)) throw unusable(`is nested more than ${MAX_LEVELS} levels deep`);
  const { length } = JSON.stringify(format.schema);
  if (length > MAX_CHARACTERS) throw unusable(`has ${length} characters as JSON, and may have ${MAX_CHARACTERS}`);
  outputCheckOf(format);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function unusable(why: string): AppError {
  return new AppError('TOOL_INVALID', `the schema ${why}`);
}
