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
 * Handling of integers that a JavaScript number cannot represent exactly. `exact`: passed as `ExactInteger`, for tools
 * that serialise JSON again. `text`: accepted only as a string of digits, which integer schemas then allow. `refuse`:
 * such strings are rejected for integer schemas, since a later validator could round the digits. With `text` and
 * `refuse` a number token of this size is an error.
 */
export type LargeIntegers = 'exact' | 'text' | 'refuse';

/**
 * Input of a tool with a JSON Schema (2020-12): the schema is closed and compiled once.
 * @throws AppError `TOOL_INVALID` for a schema that is malformed, not an object's, or has an external reference
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

/** A string of digits for a schema with type integer. */
function isDigitText({ keyword, params, data }: ErrorObject): boolean {
  const types = [(params as { readonly type?: unknown }).type].flat();
  return keyword === 'type' && types.includes('integer') && typeof data === 'string' && DIGITS.test(data);
}

/**
 * Validates again with numbers in place of digit strings. Digits that a number represents exactly become a number;
 * others stay a string.
 * @param found errors about digit strings; without any there is nothing to validate again
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

/**
 * Copies the exact integers of the original into its validated copy. The copy may have additional members: defaults.
 */
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
 * Creates a validator for values of an open JSON Schema. Its reasons name the value.
 * @param hasDefaults whether a valid value is returned as a copy with the schema's defaults
 * @throws AppError `TOOL_INVALID` for an unusable schema
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

/**
 * Deep copy that receives the defaults. Unlike `structuredClone` it uses the caller's realm, which differs under jest.
 */
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
 * Compiles a schema without type coercion; unknown keywords are allowed. Each schema has its own ajv instance (0.1 ms).
 * Thus `$id`s cannot collide, and the instance is collected with its tool.
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
