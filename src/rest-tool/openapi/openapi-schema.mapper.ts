import type { JsonSchema } from '../../kernel/json/index.js';
import { unmappable } from './openapi.error.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import { isNode, type Node } from './openapi.types.js';

/** Keywords whose value is one schema, a list of schemas, or a map of schemas. */
const SINGLE = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];
/** Keywords without effect on validation, and those that the conversion has already applied. */
const DROPPED = new Set([
  'xml',
  'externalDocs',
  'discriminator',
  'example',
  'nullable',
  '$schema',
  '$defs',
  'definitions',
  '$comment',
]);
const REFUSED = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef'];
/** Keywords that only annotate; beside a `$ref` they need no `allOf`. */
const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'deprecated',
  'examples',
  'example',
  'summary',
  'readOnly',
  'writeOnly',
]);
/** Keywords that close an object if their value is `false`. */
const CLOSING = new Set(['additionalProperties', 'unevaluatedProperties']);
/** Keywords whose schemas apply to the same value, and demand something of it. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas']);
const MAX_SCHEMAS = 5000;

/**
 * Converts schemas of a document to plain JSON Schema (2020-12) for requests, without references. A recursive schema is
 * cut where it begins again.
 */
export class OpenApiSchemas {
  private count = 0;

  /** @param isOld whether the document is OpenAPI 3.0, which has its own schema dialect */
  constructor(
    private readonly references: OpenApiReferences,
    private readonly isOld: boolean,
  ) {}

  /** @throws AppError `TOOL_INVALID` for an externally referenced or too large schema */
  toJsonSchema(value: unknown, where: string): JsonSchema | boolean {
    const schema = this.schemaOf(value, where, []);
    return typeof schema === 'boolean' ? schema : withoutReadOnly(schema);
  }

  private schemaOf(value: unknown, where: string, trail: readonly string[]): JsonSchema | boolean {
    if (typeof value === 'boolean') return value;
    if (++this.count > MAX_SCHEMAS) throw unmappable(where, `it expands to more than ${MAX_SCHEMAS} schemas`);
    if (isNode(value) && trail.includes(String(value['$ref']))) return this.cutSchema(value, where);
    const { node, trail: inner } = this.references.resolve(value, where, trail);
    const plain = this.convert(node, where, inner);
    return node === value ? plain : this.withSiblings(plain, value as Node, where, trail);
  }

  /** A schema inside itself accepts any value of its type: the model sees the form one level above. */
  private cutSchema(reference: Node, where: string): JsonSchema {
    const { type, nullable, title, description } = this.references.resolve(reference, where).node;
    const types = nullable === true && typeof type === 'string' ? [type, 'null'] : type;
    return {
      ...(types !== undefined && { type: types }),
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    };
  }

  /** OpenAPI 3.0 ignores keywords beside a reference; 3.1 applies them. */
  private withSiblings(target: JsonSchema, node: Node, where: string, trail: readonly string[]): JsonSchema {
    const siblings = Object.fromEntries(Object.entries(node).filter(([keyword]) => keyword !== '$ref'));
    const names = Object.keys(siblings);
    if (this.isOld || names.length === 0) return target;
    const own = this.convert(siblings, where, trail);
    return names.every((name) => ANNOTATIONS.has(name))
      ? { ...target, ...own }
      : closedAsWhole({ ...own, allOf: [target, ...listIn(own)] });
  }

  private convert(node: Node, where: string, trail: readonly string[]): JsonSchema {
    const refused = REFUSED.find((keyword) => keyword in node);
    if (refused) throw unmappable(where, `it uses ${refused}, which is not supported`);
    const own = Object.entries(node).filter(([keyword]) => !DROPPED.has(keyword) && !keyword.startsWith('x-'));
    const plain = mapSchemas(Object.fromEntries(own), (value, place) =>
      this.schemaOf(value, `${where}/${place}`, trail),
    );
    if ('example' in node && !('examples' in node)) plain['examples'] = [node['example']];
    return closedAsWhole(this.isOld ? modernized(plain, node) : plain);
  }
}

/** Replaces the schemas within a schema. @param inner receives each with its place, such as `allOf/0` */
function mapSchemas(schema: Node, inner: (value: unknown, place: string) => unknown): Record<string, unknown> {
  const mapped: Record<string, unknown> = { ...schema };
  for (const keyword of SINGLE.filter((one) => one in mapped)) mapped[keyword] = inner(mapped[keyword], keyword);
  for (const keyword of LISTS.filter((one) => Array.isArray(mapped[one]))) {
    mapped[keyword] = (mapped[keyword] as unknown[]).map((value, index) => inner(value, `${keyword}/${index}`));
  }
  for (const keyword of MAPS.filter((one) => isNode(mapped[one]))) {
    const entries = Object.entries(mapped[keyword] as Node);
    const schemas = entries.map(([name, value]) => [name, inner(value, `${keyword}/${name}`)]);
    mapped[keyword] = Object.fromEntries(schemas);
  }
  return mapped;
}

/** Converts keywords of 3.0: boolean `exclusiveMinimum`/`exclusiveMaximum`, and `nullable`. */
function modernized(plain: Readonly<Record<string, unknown>>, node: Node): JsonSchema {
  const schema: Record<string, unknown> = { ...plain };
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof node[exclusive] !== 'boolean') continue;
    delete schema[exclusive];
    if (node[exclusive] && limit in node) {
      schema[exclusive] = node[limit];
      delete schema[limit];
    }
  }
  if (node['nullable'] !== true) return schema;
  if (typeof schema['type'] !== 'string') {
    return { anyOf: [schema, { type: 'null' }], ...(node['readOnly'] === true && { readOnly: true }) };
  }
  const values = schema['enum'];
  const isShort = Array.isArray(values) && !values.includes(null);
  return { ...schema, type: [schema['type'], 'null'], ...(isShort && { enum: [...(values as unknown[]), null] }) };
}

/**
 * In JSON Schema, a part of `allOf` with `additionalProperties: false` refuses the properties of the other parts. Such
 * documents mean the whole: `unevaluatedProperties` closes it instead.
 */
function closedAsWhole(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema['allOf'])) return schema;
  const opened = withOpenParts(schema);
  return opened === schema ? schema : { ...opened, unevaluatedProperties: false };
}

/** A schema whose parts for the same value are open; the schema itself if they already are. */
function withOpenParts(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (CLOSING.has(keyword) && value === false) return [];
    if (keyword !== 'allOf' || !Array.isArray(value)) return [[keyword, value]];
    const parts = value.map((part) => (isNode(part) ? withOpenParts(part) : (part as unknown)));
    return [[keyword, parts.every((part, index) => part === value[index]) ? value : parts]];
  });
  const isSame =
    entries.length === Object.keys(schema).length && entries.every(([key, value]) => schema[key] === value);
  return isSame ? schema : Object.fromEntries(entries);
}

/**
 * Removes read-only properties, which occur in replies only.
 * @param outer names of read-only properties that schemas of the same value have
 */
function withoutReadOnly(schema: JsonSchema, outer: ReadonlySet<string> = new Set()): JsonSchema {
  const hidden = new Set([...outer, ...readOnlyNames(schema)]);
  const { properties, required } = schema;
  const ours = isNode(properties) && Object.entries(properties).filter(([, property]) => !isReadOnly(property));
  const shown = {
    ...schema,
    ...(ours && { properties: Object.fromEntries(ours) }),
    ...(Array.isArray(required) && { required: required.filter((name) => !hidden.has(String(name))) }),
  };
  return mapSchemas(shown, (value, place) => {
    if (!isNode(value)) return value;
    return withoutReadOnly(value, SAME_VALUE.has(place.split('/')[0]!) ? hidden : undefined);
  });
}

function readOnlyNames(schema: Node): readonly string[] {
  const { properties } = schema;
  const own = isNode(properties) ? Object.keys(properties).filter((name) => isReadOnly(properties[name])) : [];
  return [...own, ...listIn(schema).filter(isNode).flatMap(readOnlyNames)];
}

function isReadOnly(property: unknown): boolean {
  return isNode(property) && (property['readOnly'] === true || listIn(property).some(isReadOnly));
}

function listIn(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema['allOf']) ? (schema['allOf'] as unknown[]) : [];
}
