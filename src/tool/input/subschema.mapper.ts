/** A JSON Schema as an object. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Keywords that hold schemas by name. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions']);
/** Keywords that hold one schema, or a list of them. */
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

/** A copy of a schema with all schemas right inside it changed; what is data (`enum`, `default`) stays as it is. */
export function mapSubschemas(node: SchemaNode, change: (child: unknown) => unknown): SchemaNode {
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (MAPS.has(key) && isSchemaNode(value)) return [key, mapValues(value, change)];
      if (!SCHEMAS.has(key)) return [key, value];
      return [key, Array.isArray(value) ? value.map(change) : change(value)];
    }),
  );
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(value: SchemaNode, change: (child: unknown) => unknown): SchemaNode {
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, change(child)]));
}
