/** A JSON Schema that is an object. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Keywords with schemas by name. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions']);
/** Keywords with one schema or a list of schemas. */
const SCHEMAS = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]);

/** Copies a schema and maps its direct subschemas; data (`enum`, `default`) stay unchanged. */
export function mapSubschemas(node: SchemaNode, change: (child: unknown) => unknown): SchemaNode {
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (MAPS.has(key) && isSchemaNode(value)) return [key, mapValues(value, change)];
      if (!SCHEMAS.has(key)) return [key, value];
      return [key, Array.isArray(value) ? value.map(change) : change(value)];
    }),
  );
}

/** The part of a schema with a local reference (`#`, `#/$defs/a`); `undefined` if it does not exist. */
export function partAt(schema: SchemaNode, reference: string): unknown {
  if (reference === '#') return schema;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = schema;
  for (const part of reference.slice(2).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as SchemaNode)[key];
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(value: SchemaNode, change: (child: unknown) => unknown): SchemaNode {
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, change(child)]));
}
