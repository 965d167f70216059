import type { ValidateFunction } from 'ajv/dist/2020.js';
import { AppError, type JsonSchema, messageOf } from '../../common/index.js';
import { toAjvSchema } from './ajv-schema.mapper.js';
import { closeSchema } from './closed-schema.mapper.js';
import { toCurrentDraft } from './draft7.mapper.js';
import type { ToolInput } from '../tool.types.js';
import { ajv } from './ajv.loader.js';
import type { SyncInputSource } from './input.types.js';
import { toMistakes, toReason } from './reason.mapper.js';

/**
 * The input of a tool whose arguments a JSON Schema (2020-12) describes: closed, compiled once. Throws `TOOL_INVALID`
 * for a schema that does not describe an object, is malformed, or refers to what is not inside it.
 */
export function createSchemaInput(input: JsonSchema): SyncInputSource {
  const schema = closeSchema(asObjectSchema(toCurrentDraft(input)));
  const check = compile(schema);
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  return {
    schema,
    validate(args) {
      const value = hasDefaults ? copyOf(args) : args;
      if (check(value)) return { valid: true, value };
      const errors = check.errors ?? [];
      return { valid: false, reason: toReason(errors), mistakes: toMistakes(errors, 'arguments') };
    },
  };
}

/**
 * The check of a value that a JSON Schema describes, as it is: neither closed nor filled in. Its reasons call it
 * by its name. Throws `TOOL_INVALID` for a schema that cannot be used.
 */
export function createValueCheck(
  schema: JsonSchema,
  name = 'value',
  what = 'the schema',
): (value: unknown) => ToolInput {
  const check = compile(toCurrentDraft(schema), what, false);
  return (value) => {
    if (check(value)) return { valid: true, value };
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
function compile(schema: JsonSchema, what = 'its input', useDefaults = true): ValidateFunction {
  try {
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
