import type { JsonSchema } from '../../common/index.js';
import { isSchemaNode, mapSubschemas, type SchemaNode } from './subschema.mapper.js';

/**
 * Gives a schema in words that ajv 8 reads as 2020-12 means them; nobody else sees it. ajv refuses an empty `enum`, fails
 * on a resource inside another one that has `$ref` beside `$id`, takes for evaluated what an `if` has seen that
 * did not hold, and all items where there is a `contains`.
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

/** The condition evaluates nothing where it is asked, and where it held it is there once more. */
function withHeldCondition(node: SchemaNode): SchemaNode {
  if (!('if' in node)) return node;
  const { if: condition, then } = node;
  const told = new Map(Object.entries(node));
  told.set('if', { not: { not: condition } });
  told.set('then', 'then' in node ? { allOf: [condition, then] } : condition);
  return Object.fromEntries(told);
}

/** `contains` where it evaluates nothing, and what it would have evaluated among what need not be. */
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

/** What `contains` says of the items of the same value, here and in what must hold, too. */
function containedIn(node: unknown): unknown[] {
  if (!isSchemaNode(node)) return [];
  const parts = Array.isArray(node['allOf']) ? node['allOf'].flatMap(containedIn) : [];
  return 'contains' in node ? [node['contains'], ...parts] : parts;
}

function also(node: SchemaNode, part: SchemaNode): SchemaNode {
  const { allOf = [] } = node as { readonly allOf?: readonly unknown[] };
  return { ...node, allOf: [...allOf, part] };
}
