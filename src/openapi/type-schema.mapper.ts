import type { OpenAPIObject } from '@nestjs/swagger';
import { TYPE_SCHEMAS } from './generated/type-schemas.js';
import type { Bounds } from './validator-bounds.mapper.js';

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, Schema>>;
type Item = OpenAPIObject['paths'][string];

const REFERENCE = '#/components/schemas/';
/** Keywords that the TypeScript type decides. */
const OF_TYPE = new Set([
  'type',
  'items',
  'enum',
  'allOf',
  'oneOf',
  'anyOf',
  '$ref',
  'nullable',
  'additionalProperties',
]);

/**
 * Replaces the types in the schemas of DTOs by those of TypeScript (unions, literals, integers, any JSON value), adds
 * the bounds of their validators and the schemas of run events, and closes the schemas of request bodies.
 */
export function withTypeSchemas(document: OpenAPIObject, bounds: Bounds): OpenAPIObject {
  const given = Object.entries((document.components?.schemas ?? {}) as Record<string, Schema>);
  const schemas: Record<string, Schema> = Object.fromEntries(
    given.map(([name, schema]) => [name, typed(name, schema, bounds)]),
  );
  schemas['RunEvent'] = TYPE_SCHEMAS['RunEvent'] as Schema;
  for (const schema of Object.values(schemas)) addReferences(schema, schemas);
  for (const name of bodyNames(document, schemas)) schemas[name] = closedBody(schemas[name]!);
  return { ...document, components: { ...document.components, schemas } };
}

function typed(name: string, given: Schema, bounds: Bounds): Schema {
  const type = TYPE_SCHEMAS[name] as Schema | undefined;
  if (!type) return given;
  const before = (given['properties'] ?? {}) as Properties;
  const properties = Object.entries((type['properties'] ?? {}) as Properties).map(([field, schema]) => {
    const kept = Object.entries(before[field] ?? {}).filter(([keyword]) => !OF_TYPE.has(keyword));
    const { scalar, items } = bounds(name, field);
    const whole = { ...Object.fromEntries(kept), ...schema, ...scalar };
    return [
      field,
      items && schema['items'] ? { ...whole, items: { ...(schema['items'] as Schema), ...items } } : whole,
    ];
  });
  return { ...given, ...type, properties: Object.fromEntries(properties) as Properties };
}

/** Closes a schema of a request. Its defaults are texts, since generators make fields with the keyword required. */
function closedBody(schema: Schema): Schema {
  const properties = Object.entries((schema['properties'] ?? {}) as Properties).map(([name, property]) => {
    const { default: value, description = '', ...rest } = property;
    if (value === undefined) return [name, property];
    const text = `${String(description)} Default: \`${JSON.stringify(value)}\`.`.trim();
    return [name, { ...rest, description: text }];
  });
  return {
    ...schema,
    ...('properties' in schema && { properties: Object.fromEntries(properties) as Properties }),
    additionalProperties: false,
  };
}

/** Adds the schemas to which a schema refers and that the document lacks. */
function addReferences(node: unknown, schemas: Record<string, Schema>): void {
  for (const name of referencesIn(node)) {
    if (name in schemas || !(name in TYPE_SCHEMAS)) continue;
    schemas[name] = TYPE_SCHEMAS[name] as Schema;
    addReferences(schemas[name], schemas);
  }
}

/** The schemas of request bodies, and those to which they refer: the server refuses unknown fields. */
function bodyNames({ paths }: OpenAPIObject, schemas: Readonly<Record<string, Schema>>): Set<string> {
  const names = new Set<string>();
  const open = Object.values(paths).flatMap((item: Item) =>
    [item.post, item.put, item.patch, item.delete].flatMap((operation) => referencesIn(operation?.requestBody)),
  );
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (names.has(name)) continue;
    names.add(name);
    open.push(...referencesIn(schemas[name]));
  }
  return names;
}

function referencesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencesIn);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(REFERENCE)
      ? [value.slice(REFERENCE.length)]
      : referencesIn(value),
  );
}
