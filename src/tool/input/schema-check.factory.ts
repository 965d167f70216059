import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AppError, messageOf } from '../../errors/index.js';
import { hasExact, type JsonSchema, withRounded } from '../../kernel/index.js';
import { toAjvSchema } from './ajv-schema.mapper.js';

/** The result of a check: no errors, or those of an invalid value. */
export interface Checked {
  readonly errors: readonly ErrorObject[];
  /** The value, with defaults if the schema is compiled with them; the given value may have been changed. */
  readonly value: unknown;
}

export type SchemaCheck = (value: unknown) => Checked;

/**
 * Compiles a schema without type coercion; unknown keywords are allowed. Each schema has its own ajv instance (0.1 ms).
 * Thus `$id`s cannot collide, and the instance is collected with its tool.
 * @throws AppError `TOOL_INVALID`
 */
export function compileSchema(given: JsonSchema, what: string, useDefaults: boolean): SchemaCheck {
  const schema = validSchema(given, what);
  try {
    const instance = new Ajv2020({
      allErrors: true,
      strict: false,
      verbose: true,
      ownProperties: true,
      useDefaults,
      meta: false,
      validateSchema: false,
      logger: false,
      code: { regExp },
    });
    addFormats.default(instance);
    const validate = instance.compile(schema);
    return (value) => ({ errors: validate(value) ? [] : (validate.errors ?? []), value });
  } catch (error) {
    throw unusable(what, messageOf(error), error);
  }
}

let metaschema: Ajv2020 | undefined;

/** A schema in the form for ajv. @throws AppError `TOOL_INVALID` if it does not conform to the metaschema */
export function validSchema(given: JsonSchema, what: string): JsonSchema {
  const schema = hasExact(given) ? (withRounded(given) as JsonSchema) : given;
  metaschema ??= new Ajv2020({ strict: false, logger: false });
  if (metaschema.validateSchema(schema) !== true) throw unusable(what, metaschema.errorsText());
  return toAjvSchema(schema);
}

/** @param what subject of the message, such as `its input` */
export function unusable(what: string, why: string, cause?: unknown): AppError {
  return new AppError('TOOL_INVALID', `${what} is not a JSON Schema that can be used: ${why}`, { cause });
}

/** Many documents have patterns such as `\:` and `\-`, which are invalid with the flag `u`. */
const regExp = Object.assign(
  (pattern: string) => {
    try {
      return new RegExp(pattern, 'u');
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'new RegExp' },
);
