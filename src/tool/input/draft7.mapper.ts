import type { JsonSchema } from '../../kernel/json/index.js';
import { isSchemaNode, mapSubschemas, type SchemaNode } from './subschema.mapper.js';

const OLD_DRAFT = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
/** Draft 7 ignores siblings of `$ref`, except definitions, which remain referable. */
const BESIDE_REF = new Set(['$ref', 'definitions', '$defs']);

/**
 * Converts a schema whose `$schema` is draft 6 or 7 to 2020-12, so that all consumers (model, validation,
 * documentation) deal with one draft. Other schemas stay unchanged.
 */
export function toCurrentDraft(schema: JsonSchema): JsonSchema {
  if (typeof schema['$schema'] !== 'string' || !OLD_DRAFT.test(schema['$schema'])) return schema;
  const { $schema: _old, ...root } = schema;
  return upgraded(root, root) as JsonSchema;
}

function upgraded(node: unknown, root: SchemaNode): unknown {
  if (!isSchemaNode(node)) return node;
  const entries = Object.entries(node).filter(([key]) => typeof node['$ref'] !== 'string' || BESIDE_REF.has(key));
  const inner = mapSubschemas(Object.fromEntries(entries), (child) => upgraded(child, root));
  const isTuple = Array.isArray(node['items']);
  return Object.fromEntries(Object.entries(inner).flatMap(([key, value]) => renamed(key, value, isTuple, root)));
}

function renamed(key: string, value: unknown, isTuple: boolean, root: SchemaNode): (readonly [string, unknown])[] {
  switch (key) {
    case '$ref':
      return [[key, typeof value === 'string' ? movedPointer(value, root) : value]];
    case '$id':
      return typeof value === 'string' && value.startsWith('#') ? [['$anchor', value.slice(1)]] : [[key, value]];
    case 'items':
      return [[isTuple ? 'prefixItems' : key, value]];
    case 'additionalItems':
      return isTuple ? [['items', value]] : [];
    case 'dependencies':
      return isSchemaNode(value) ? dependencies(Object.entries(value)) : [];
    default:
      return [[key, value]];
  }
}

/** A list makes properties required; a schema applies to the whole object. */
function dependencies(all: readonly (readonly [string, unknown])[]): (readonly [string, unknown])[] {
  const lists = all.filter(([, needed]) => Array.isArray(needed));
  const schemas = all.filter(([, needed]) => !Array.isArray(needed));
  return [
    ['dependentRequired', Object.fromEntries(lists)],
    ['dependentSchemas', Object.fromEntries(schemas)],
  ];
}

/** Rewrites a JSON pointer into the schema to the renamed keywords. */
function movedPointer(ref: string, root: SchemaNode): string {
  if (!ref.startsWith('#/')) return ref;
  let at: unknown = root;
  const moved = ref
    .slice(2)
    .split('/')
    .map((key) => {
      const node = at;
      at = (at as SchemaNode | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')];
      return isSchemaNode(node) ? newName(key, node) : key;
    });
  return `#/${moved.join('/')}`;
}

function newName(key: string, { items }: SchemaNode): string {
  if (key === 'items' && Array.isArray(items)) return 'prefixItems';
  if (key === 'additionalItems' && Array.isArray(items)) return 'items';
  return key === 'dependencies' ? 'dependentSchemas' : key;
}
