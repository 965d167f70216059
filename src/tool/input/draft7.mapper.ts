import type { JsonSchema } from '../../common/index.js';
import { isSchemaNode, mapSubschemas, type SchemaNode } from './subschema.mapper.js';

const OLD_DRAFT = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
/** What counts beside `$ref`: nothing, but what is defined there can be referred to. */
const BESIDE_REF = new Set(['$ref', 'definitions', '$defs']);

/**
 * Gives a schema that says by its `$schema` that it is of draft 6 or 7 as one of 2020-12, so that whoever reads it after
 * us (model, check, documentation) has one draft to know; any other schema as it is.
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

/** What a list names is required; what a schema says holds for the whole. */
function dependencies(all: readonly (readonly [string, unknown])[]): (readonly [string, unknown])[] {
  const lists = all.filter(([, needed]) => Array.isArray(needed));
  const schemas = all.filter(([, needed]) => !Array.isArray(needed));
  return [
    ['dependentRequired', Object.fromEntries(lists)],
    ['dependentSchemas', Object.fromEntries(schemas)],
  ];
}

/** A JSON pointer into the schema, by the new names of what it goes through. */
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
