import type { JsonSchema } from '../../../common/index.js';
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
const MAX_SCHEMAS = 5000;

/** Converts schemas of a document to plain JSON Schema (2020-12) for requests, without references. */
export class OpenApiSchemas {
  private count = 0;

  /** @param isOld whether the document is OpenAPI 3.0, which has its own schema dialect */
  constructor(
    private readonly references: OpenApiReferences,
    private readonly isOld: boolean,
  ) {}

  /** @throws AppError `TOOL_INVALID` for a recursive, externally referenced or too large schema */
  toJsonSchema(value: unknown, where: string, trail: readonly string[] = []): JsonSchema | boolean {
    if (typeof value === 'boolean') return value;
    if (++this.count > MAX_SCHEMAS) throw unmappable(where, `it expands to more than ${MAX_SCHEMAS} schemas`);
    const { node, trail: inner } = this.references.resolve(value, where, trail);
    const plain = this.convert(node, where, inner);
    return node === value ? plain : this.withSiblings(plain, value as Node, where, trail);
  }

  /** OpenAPI 3.0 ignores keywords beside a reference; 3.1 applies them. */
  private withSiblings(target: JsonSchema, node: Node, where: string, trail: readonly string[]): JsonSchema {
    const siblings = Object.fromEntries(Object.entries(node).filter(([keyword]) => keyword !== '$ref'));
    const names = Object.keys(siblings);
    if (this.isOld || names.length === 0) return target;
    const own = this.convert(siblings, where, trail);
    return names.every((name) => ANNOTATIONS.has(name))
      ? { ...target, ...own }
      : { ...own, allOf: [target, ...listIn(own)] };
  }

  private convert(node: Node, where: string, trail: readonly string[]): JsonSchema {
    const refused = REFUSED.find((keyword) => keyword in node);
    if (refused) throw unmappable(where, `it uses ${refused}, which is not supported`);
    const plain: Record<string, unknown> = Object.fromEntries(
      Object.entries(node).filter(([keyword]) => !DROPPED.has(keyword)),
    );
    const inner = (value: unknown, place: string) => this.toJsonSchema(value, `${where}/${place}`, trail);
    for (const keyword of SINGLE.filter((one) => one in plain)) plain[keyword] = inner(plain[keyword], keyword);
    for (const keyword of LISTS.filter((one) => Array.isArray(plain[one]))) {
      plain[keyword] = (plain[keyword] as unknown[]).map((value, index) => inner(value, `${keyword}/${index}`));
    }
    for (const keyword of MAPS.filter((one) => isNode(plain[one]))) {
      const entries = Object.entries(plain[keyword] as Node).map(([name, value]) => [
        name,
        inner(value, `${keyword}/${name}`),
      ]);
      plain[keyword] = Object.fromEntries(entries);
    }
    if ('example' in node && !('examples' in node)) plain['examples'] = [node['example']];
    return withoutReadOnly(this.isOld ? modernized(plain, node) : plain);
  }
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
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = schema['enum'];
  const isShort = Array.isArray(values) && !values.includes(null);
  return { ...schema, type: [schema['type'], 'null'], ...(isShort && { enum: [...(values as unknown[]), null] }) };
}

/** Removes read-only properties, which occur in replies only. */
function withoutReadOnly(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  if (!isNode(properties)) return schema;
  const kept = Object.fromEntries(Object.entries(properties).filter(isOurs));
  const needed = Array.isArray(required)
    ? required.filter((name) => !(String(name) in properties) || String(name) in kept)
    : undefined;
  return { ...schema, properties: kept, ...(needed && { required: needed }) };
}

function isOurs([, property]: readonly [string, unknown]): boolean {
  return !isNode(property) || property['readOnly'] !== true;
}

function listIn(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema['allOf']) ? (schema['allOf'] as unknown[]) : [];
}
