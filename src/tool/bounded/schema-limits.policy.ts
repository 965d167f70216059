import type { JsonSchema } from '../../kernel/json/index.js';
import { isSchemaNode, partAt } from '../input/subschema.mapper.js';

/** Maximum size of an untrusted schema, in bytes of JSON (UTF-8). */
export const MAX_SCHEMA_BYTES = 524_288;
/** Maximum nesting of its JSON. */
export const MAX_SCHEMA_LEVELS = 128;
/** Maximum number of objects and lists in its JSON. */
export const MAX_SCHEMA_NODES = 20_000;
/** A value can have seven types. */
const MAX_TYPES = 7;

/** Why an untrusted schema exceeds the limits; `undefined` for a schema within them. Takes linear time. */
export function limitDefect(schema: JsonSchema): string | undefined {
  let nodes = 0;
  const rest: (readonly [value: unknown, level: number])[] = [[schema, 1]];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const [value, level] = next;
    if (typeof value !== 'object' || value === null) continue;
    if (level > MAX_SCHEMA_LEVELS) return `is nested more than ${MAX_SCHEMA_LEVELS} levels deep`;
    if (++nodes > MAX_SCHEMA_NODES) return `has more than ${MAX_SCHEMA_NODES} objects and lists`;
    const { type } = value as { readonly type?: unknown };
    if (Array.isArray(type) && type.length > MAX_TYPES) return `has a list of ${type.length} types`;
    for (const inner of Object.values(value)) rest.push([inner, level + 1]);
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > MAX_SCHEMA_BYTES ? `has ${bytes} bytes, and may have ${MAX_SCHEMA_BYTES}` : undefined;
}

/** Keywords that evaluate a value in linear time, apart from those with schemas. */
const LINEAR = new Set([
  'required',
  'const',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'type',
]);
const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
]);
const WITH_SCHEMA = new Set(['items', 'additionalProperties', 'not']);
const WITH_SCHEMAS = new Set(['anyOf', 'oneOf', 'allOf', 'properties']);
/** Maximum number of schemas in a plain one: compiling each takes at most about 0.5 ms. */
const MAX_PLAIN_SCHEMAS = 48;
/** Maximum number of values in an `enum` of a plain schema. */
const MAX_PLAIN_ENUM = 200;

/**
 * The number of schemas in a plain schema; `undefined` if it is not plain. A plain schema has few parts and only
 * keywords whose evaluation is at most proportional to schema and value: no patterns, formats, references, conditions
 * and `uniqueItems`. The schema is within the limits.
 */
export function plainSize(schema: unknown): number | undefined {
  let schemas = 0;
  const rest: unknown[] = [schema];
  while (rest.length > 0) {
    const node = rest.pop();
    if (typeof node === 'boolean') continue;
    if (typeof node !== 'object' || node === null || ++schemas > MAX_PLAIN_SCHEMAS) return undefined;
    for (const [keyword, value] of Object.entries(node)) {
      const inner = innerSchemas(keyword, value);
      if (!inner) return undefined;
      rest.push(...inner);
    }
  }
  return schemas;
}

/** The schema conforms to the metaschema. */
function innerSchemas(keyword: string, value: unknown): readonly unknown[] | undefined {
  if (LINEAR.has(keyword) || ANNOTATIONS.has(keyword)) return [];
  if (WITH_SCHEMA.has(keyword)) return [value];
  if (WITH_SCHEMAS.has(keyword)) return Object.values(value as object);
  return keyword === 'enum' && (value as readonly unknown[]).length <= MAX_PLAIN_ENUM ? [] : undefined;
}

/** Whether a value has at most `max` JSON values and thousands of characters. */
export function isSmall(value: unknown, max: number): boolean {
  let size = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const node = rest.pop();
    size += typeof node === 'string' ? 1 + node.length / 1000 : 1;
    if (size + rest.length > max) return false;
    if (typeof node !== 'object' || node === null) continue;
    if (Array.isArray(node) && node.length > max) return false;
    for (const inner of Object.values(node)) rest.push(inner);
  }
  return true;
}

/** Keywords with data, which may look like schemas. */
const DATA = new Set(['default', 'examples', 'const', 'enum']);
/** Keywords with schemas by name; a name is not a keyword. */
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions']);

/** The first reference in a schema to another document, which is never fetched, or to a missing part. */
export function unresolvedReference(schema: JsonSchema): string | undefined {
  const anchors = new Set<string>();
  const references = new Set<string>();
  let hasInnerIds = false;
  const rest: unknown[] = [schema];
  while (rest.length > 0) {
    const node = rest.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { $ref, $anchor, $dynamicAnchor, $id } = node as Readonly<Record<string, unknown>>;
    if (typeof $ref === 'string') references.add($ref);
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') anchors.add(`#${anchor}`);
    if ($id !== undefined) hasInnerIds = true;
    rest.push(...withoutData(node));
  }
  // With ids of its own, only the compiler resolves its references.
  if (hasInnerIds) return undefined;
  return [...references].find((one) => !anchors.has(one) && partAt(schema, one) === undefined);
}

function withoutData(node: object): readonly unknown[] {
  return Object.entries(node).flatMap(([keyword, inner]: [string, unknown]) => {
    if (NAMED.has(keyword) && isSchemaNode(inner)) return Object.values(inner);
    return DATA.has(keyword) ? [] : [inner];
  });
}
