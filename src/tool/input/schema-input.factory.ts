import type { ErrorObject } from 'ajv/dist/2020.js';
import { AppError } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { ExactInteger, exactIn, hasExact, type JsonSchema, withRounded } from '../../kernel/json/index.js';
import {
  assertSchemaLimits,
  type BoundedCheck,
  createBoundedSchema,
  type Undecided,
} from '../bounded/bounded-schema.factory.js';
import { closeSchema } from './closed-schema.mapper.js';
import { toCurrentDraft } from './draft7.mapper.js';
import type { ToolInput } from '../tool.types.js';
import type { InputSource, SyncInputSource } from './input.types.js';
import { withoutOptionalNulls } from './optional-null.mapper.js';
import { joinedPath, keysOf, MAX_PROBLEMS, shortened, toMistakes, toReason } from './reason.mapper.js';
import { type Checked, compileSchema, type SchemaCheck } from './schema-check.factory.js';

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
  const check = compileSchema(schema, 'its input', true);
  const rules = { schema, large, hasDefaults: hasDefaultsIn(schema) };
  return { schema, validate: (args) => validateNow(validateInput(args, rules), check) };
}

/**
 * `createSchemaInput` for an untrusted schema, which is within the limits; a check never blocks the process. The
 * schema is not closed, and no defaults are added: its owner decides which properties it accepts.
 * @throws AppError `TOOL_INVALID` as `createSchemaInput`
 */
export function createBoundedInput(input: JsonSchema, large: LargeIntegers = 'text'): InputSource {
  assertSchemaLimits(input, 'its input');
  const schema = asObjectSchema(toCurrentDraft(input));
  const rules = { schema, large, hasDefaults: false };
  const check = createBoundedSchema(schema, 'its input');
  return { schema, validate: (args) => validateBounded(validateInput(args, rules), check) };
}

interface InputRules {
  readonly schema: JsonSchema;
  readonly large: LargeIntegers;
  readonly hasDefaults: boolean;
}

function hasDefaultsIn(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes('"default":');
}

/** Yields each value to check and receives the result; thus one procedure serves both kinds of checks. */
type Validation = Generator<unknown, ToolInput, Checked>;

function validateNow(validation: Validation, check: SchemaCheck): ToolInput {
  let step = validation.next();
  while (!step.done) step = validation.next(check(step.value));
  return step.value;
}

/** Synchronous as long as the checks are. */
function validateBounded(
  validation: Validation,
  check: BoundedCheck,
  checked?: Checked,
): ToolInput | Promise<ToolInput> {
  let step = checked ? validation.next(checked) : validation.next();
  while (!step.done) {
    const result = check(step.value);
    if (result instanceof Promise) return result.then((one) => resume(validation, check, one));
    step = validation.next(result);
  }
  return step.value;
}

function resume(
  validation: Validation,
  check: BoundedCheck,
  result: Checked | Undecided,
): ToolInput | Promise<ToolInput> {
  if ('undecided' in result) return { valid: false, reason: result.undecided, isUndecided: true };
  return validateBounded(validation, check, result);
}

function* validateInput(args: unknown, { schema, large, hasDefaults }: InputRules): Validation {
  if (large !== 'exact' && hasExact(args)) return notExact(args, large);
  const toChecked = (one: unknown) => (hasExact(one) ? withRounded(one) : hasDefaults ? copyOf(one) : one);
  let given = args;
  let { errors, value } = yield toChecked(given);
  const without = yield* withoutOptionalNulls(given, schema, errors, copyOf, withRounded);
  if (without !== undefined) {
    given = without;
    ({ errors, value } = yield toChecked(given));
  }
  if (errors.length === 0) return { valid: true, value: hasExact(given) ? withExact(value, given) : value };
  if (large === 'exact') return invalid(errors);
  return (yield* checkDigits(value, errors.filter(isDigitText), large)) ?? invalid(errors);
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
function* checkDigits(
  args: unknown,
  found: readonly ErrorObject[],
  large: LargeIntegers,
): Generator<unknown, ToolInput | undefined, Checked> {
  if (found.length === 0) return undefined;
  const copy = copyOf(args);
  const texts = new Map(found.map(({ instancePath, data }) => [instancePath, data as string]));
  for (const [place, text] of texts) put(copy, keysOf(place), new ExactInteger(text).toNumber());
  const { errors, value } = yield copy;
  if (errors.length > 0) return invalid(errors);
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
  const check = compileSchema(toCurrentDraft(schema), what, hasDefaults);
  return (value) => validateNow(validateValue(value, name, hasDefaults), check);
}

/**
 * `createValueCheck` for an untrusted schema, without defaults; a check never blocks the process. A result that is not
 * valid has `isUndecided` if the check took too long.
 * @throws AppError `TOOL_INVALID` for an unusable schema, or one that exceeds the limits
 */
export function createBoundedCheck(schema: JsonSchema, name = 'value', what = 'the schema'): BoundedValueCheck {
  assertSchemaLimits(schema, what);
  const check = createBoundedSchema(toCurrentDraft(schema), what);
  return (value) => validateBounded(validateValue(value, name, false), check);
}

export type BoundedValueCheck = (value: unknown) => ToolInput | Promise<ToolInput>;

function* validateValue(value: unknown, name: string, hasDefaults: boolean): Validation {
  const isExact = hasExact(value);
  const { errors, value: checked } = yield isExact ? withRounded(value) : hasDefaults ? copyOf(value) : value;
  if (errors.length === 0) {
    return { valid: true, value: !hasDefaults ? value : isExact ? withExact(checked, value) : checked };
  }
  const named = errors.map((error) => ({ ...error, instancePath: `/${name}${error.instancePath}` }));
  return { valid: false, reason: toReason(named), mistakes: toMistakes(named) };
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
