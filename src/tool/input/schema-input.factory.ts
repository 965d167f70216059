import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import {
  AppError,
  ExactInteger,
  exactIn,
  fieldMistake,
  hasExact,
  type JsonSchema,
  messageOf,
  withRounded,
} from '../../common/index.js';
import { toAjvSchema } from './ajv-schema.mapper.js';
import { closeSchema } from './closed-schema.mapper.js';
import { toCurrentDraft } from './draft7.mapper.js';
import type { ToolInput } from '../tool.types.js';
import { ajv } from './ajv.loader.js';
import type { SyncInputSource } from './input.types.js';
import { joinedPath, keysOf, MAX_PROBLEMS, shortened, toMistakes, toReason } from './reason.mapper.js';

/**
 * How an integer that no number holds exactly reaches a tool: `exact` as an `ExactInteger`, for tools that write JSON again;
 * `text` only as a string of digits, which integer schemas accept; `refuse` not where the schema says integer, since a
 * validator behind the schema could round the digits. With `text` and `refuse` such a number is an error.
 */
export type LargeIntegers = 'exact' | 'text' | 'refuse';

/**
 * The input of a tool whose arguments a JSON Schema (2020-12) describes: closed, compiled once. Throws `TOOL_INVALID`
 * for a schema that does not describe an object, is malformed, or refers to what is not inside it.
 */
export function createSchemaInput(input: JsonSchema, large: LargeIntegers = 'text'): SyncInputSource {
  const schema = closeSchema(asObjectSchema(toCurrentDraft(input)));
  const check = compile(schema);
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  return {
    schema,
    validate(args) {
      const isExact = hasExact(args);
      if (isExact && large !== 'exact') return notExact(args, large);
      const value = isExact ? withRounded(args) : hasDefaults ? copyOf(args) : args;
      if (check(value)) return { valid: true, value: isExact ? withExact(value, args) : value };
      const errors = check.errors ?? [];
      if (large === 'exact') return invalid(errors);
      return checkDigits(check, value, errors.filter(isDigitText), large) ?? invalid(errors);
    },
  };
}

function invalid(errors: readonly ErrorObject[]): ToolInput {
  return { valid: false, reason: toReason(errors), mistakes: toMistakes(errors, 'arguments') };
}

const DIGITS = /^(?:0|-?[1-9]\d*)$/;

/** A string of digits where the schema says integer. */
function isDigitText({ keyword, params, data }: ErrorObject): boolean {
  const types = [(params as { readonly type?: unknown }).type].flat();
  return keyword === 'type' && types.includes('integer') && typeof data === 'string' && DIGITS.test(data);
}

/**
 * Checks the value again with numbers in the place of digit strings. Digits that a number holds become one; others stay a string.
 * @param found the errors about such strings; without any there is nothing to check again
 */
function checkDigits(
  check: ValidateFunction,
  args: unknown,
  found: readonly ErrorObject[],
  large: LargeIntegers,
): ToolInput | undefined {
  if (found.length === 0) return undefined;
  const value = copyOf(args);
  const texts = new Map(found.map(({ instancePath, data }) => [instancePath, data as string]));
  for (const [place, text] of texts) put(value, keysOf(place), new ExactInteger(text).toNumber());
  if (!check(value)) return invalid(check.errors ?? []);
  for (const [place, text] of texts) if (!isNumberText(text)) put(value, keysOf(place), new ExactInteger(text));
  if (!hasExact(value)) return { valid: true, value };
  if (large === 'refuse') return notExact(value, large);
  for (const { path, value: integer } of exactIn(value)) put(value, path, integer.text);
  return { valid: true, value };
}

function isNumberText(digits: string): boolean {
  return String(Number(digits)) === digits;
}

function put(root: unknown, path: readonly string[], value: unknown): void {
  let place = root as Record<string, unknown>;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>;
  place[path.at(-1)!] = value;
}

/** A checked copy with the exact integers of its original. The copy may have more members: defaults. */
function withExact(copy: unknown, original: unknown): unknown {
  for (const { path, value } of exactIn(original)) put(copy, path, value);
  return copy;
}

function notExact(args: unknown, large: LargeIntegers): ToolInput {
  const advice =
    large === 'text'
      ? 'send its digits as a string'
      : 'the tool can only take its digits as a string, and only where its schema allows one';
  const problems = exactIn(args)
    .slice(0, MAX_PROBLEMS)
    .map(({ path, value }) => {
      const name = JSON.stringify(shortened(path.reduce(joinedPath, '')));
      const message = `${name} is the integer ${shortened(value.text)}, which cannot be represented exactly: ${advice}`;
      return { message, field: ['arguments', ...path].join('.'), value };
    });
  return {
    valid: false,
    reason: problems.map(({ message }) => message).join('; '),
    mistakes: problems.map(({ message, field, value }) => fieldMistake(field, message, 'exactInteger', value)),
  };
}

/**
 * The check of a value that a JSON Schema describes, which is not closed. Its reasons name the value. Throws `TOOL_INVALID` for a
 * schema that cannot be used.
 * @param hasDefaults whether the checked value is a copy with the defaults of the schema
 */
export function createValueCheck(
  schema: JsonSchema,
  name = 'value',
  what = 'the schema',
  hasDefaults = false,
): (value: unknown) => ToolInput {
  const check = compile(toCurrentDraft(schema), what, hasDefaults);
  return (value) => {
    const isExact = hasExact(value);
    const checked = isExact ? withRounded(value) : hasDefaults ? copyOf(value) : value;
    if (check(checked)) {
      return { valid: true, value: !hasDefaults ? value : isExact ? withExact(checked, value) : checked };
    }
    const errors = (check.errors ?? []).map((error) => ({ ...error, instancePath: `/${name}${error.instancePath}` }));
    return { valid: false, reason: toReason(errors), mistakes: toMistakes(errors) };
  };
}

/** For the defaults to go into. In the realm of the caller, unlike a structuredClone: under jest those are two. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf(member)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function asObjectSchema(schema: JsonSchema): JsonSchema {
  if (schema.type === 'object') return schema;
  if (schema.type === undefined && ['anyOf', 'oneOf', 'allOf', '$ref', 'properties'].some((key) => key in schema)) {
    return { type: 'object', ...schema };
  }
  throw new AppError('TOOL_INVALID', 'its input does not describe an object: use { type: "object", properties: … }');
}

/**
 * Arguments are never coerced, and keywords nobody knows are kept. An instance for each (0.1 ms), so that no schema
 * sees the `$id`s of another and all goes when the tool goes.
 */
function compile(given: JsonSchema, what = 'its input', useDefaults = true): ValidateFunction {
  try {
    const schema = hasExact(given) ? (withRounded(given) as JsonSchema) : given;
    const { Ajv2020, addFormats, metaschema } = ajv();
    if (metaschema.validateSchema(schema) !== true) throw new Error(metaschema.errorsText());
    const instance = new Ajv2020({
      allErrors: true,
      strict: false,
      verbose: true,
      ownProperties: true,
      useDefaults,
      meta: false,
      validateSchema: false,
      logger: false,
    });
    addFormats(instance);
    return instance.compile(toAjvSchema(schema));
  } catch (error) {
    throw new AppError('TOOL_INVALID', `${what} is not a JSON Schema that can be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
