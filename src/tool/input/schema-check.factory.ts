import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AppError, messageOf } from '../../errors/index.js';
import { hasExact, type JsonSchema, withRounded } from '../../kernel/json/index.js';
import { isSchemaNode, mapSubschemas, type SchemaNode } from './subschema.mapper.js';

/**
 * Rewrites a schema so that ajv 8 conforms to 2020-12; the result is for ajv only. It works around four deviations. ajv
 * rejects an empty `enum`. It fails for an inner resource with `$ref` beside `$id`. It counts properties seen by a
 * failed `if` as evaluated. It counts all items as evaluated if there is a `contains`.
 */
export function toAjvSchema(schema: JsonSchema): JsonSchema {
  const isTracking = JSON.stringify(schema).includes('"unevaluated');
  return worded(schema, isTracking) as JsonSchema;
}

function worded(node: unknown, isTracking: boolean): unknown {
  if (!isSchemaNode(node)) return node;
  const inner = mapSubschemas(node, (child) => worded(child, isTracking));
  const reworded = withInnerRef(withPossibleEnum(inner));
  return isTracking ? withContained(withHeldCondition(reworded), node) : reworded;
}

function withPossibleEnum(node: SchemaNode): SchemaNode {
  if (!Array.isArray(node['enum']) || node['enum'].length > 0) return node;
  const { enum: _nothing, ...rest } = node;
  return also(rest, { not: {} });
}

function withInnerRef(node: SchemaNode): SchemaNode {
  if (typeof node['$id'] !== 'string' || typeof node['$ref'] !== 'string') return node;
  const { $ref, ...rest } = node;
  return also(rest, { $ref });
}

/** Double negation makes the condition evaluate nothing; a condition that holds is repeated in `then`. */
function withHeldCondition(node: SchemaNode): SchemaNode {
  if (!('if' in node)) return node;
  const { if: condition, then } = node;
  const keywords = new Map(Object.entries(node));
  keywords.set('if', { not: { not: condition } });
  keywords.set('then', 'then' in node ? { allOf: [condition, then] } : condition);
  return Object.fromEntries(keywords);
}

/** Makes `contains` evaluate nothing, and exempts its matches from `unevaluatedItems`. */
function withContained(node: SchemaNode, original: SchemaNode): SchemaNode {
  const seen = containedIn(original);
  const hidden = 'contains' in node ? hideContains(node) : node;
  if (!('unevaluatedItems' in hidden) || seen.length === 0) return hidden;
  return { ...hidden, unevaluatedItems: { anyOf: [...seen, hidden['unevaluatedItems']] } };
}

function hideContains({ contains, minContains, maxContains, ...rest }: SchemaNode): SchemaNode {
  const counts = {
    ...(minContains !== undefined && { minContains }),
    ...(maxContains !== undefined && { maxContains }),
  };
  return also(rest, { not: { not: { contains, ...counts } } });
}

/** The `contains` schemas for the same value, including those of `allOf`. */
function containedIn(node: unknown): unknown[] {
  if (!isSchemaNode(node)) return [];
  const parts = Array.isArray(node['allOf']) ? node['allOf'].flatMap(containedIn) : [];
  return 'contains' in node ? [node['contains'], ...parts] : parts;
}

function also(node: SchemaNode, part: SchemaNode): SchemaNode {
  const { allOf = [] } = node as { readonly allOf?: readonly unknown[] };
  return { ...node, allOf: [...allOf, part] };
}

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
