import type { JsonSchema } from '../../kernel/index.js';

type Node = Readonly<Record<string, unknown>>;

/** Formats whose values have no room for other text. */
const CLOSED_FORMATS: ReadonlySet<unknown> = new Set(['date', 'date-time', 'time', 'uuid']);
/** Maximum length of a string that counts as short, in characters. */
const SHORT = 32;
/** Parts with schemas of the value itself or of values in it. */
const ALTERNATIVES = ['anyOf', 'oneOf'];
const NESTED = ['items', 'prefixItems', 'additionalProperties', 'patternProperties', 'unevaluatedProperties'];
const SCALARS: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean', 'null']);

/**
 * Whether arguments can contain free text: a string without `enum`, `const`, a closed format (`date`, `date-time`,
 * `time`, `uuid`) or a `maxLength` of at most 32, at any depth. A schema that does not limit its values, or refers to
 * another one, counts as free text.
 */
export function acceptsFreeText(schema: JsonSchema): boolean {
  return isFree(schema, true);
}

/** @param isArguments whether it is the object of all arguments, which is closed unless it says otherwise */
function isFree(schema: unknown, isArguments = false): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  const node = schema as Node;
  if ('enum' in node || 'const' in node) return false;
  const types = listOf(node['type'] ?? (isArguments || 'properties' in node ? 'object' : undefined));
  return types.length > 0 ? types.some((type) => isFreeOf(type, node, isArguments)) : isFreeUntyped(node);
}

/** Without a type, only other schemas limit the values; a reference may be anything. */
function isFreeUntyped(node: Node): boolean {
  const choices = ALTERNATIVES.flatMap((key) => listOf(node[key]));
  if (choices.length > 0) return choices.some((one) => isFree(one));
  // Each of the parts limits the value. Without parts it is any value.
  return listOf(node['allOf']).every((one) => isFree(one));
}

function isFreeOf(type: unknown, node: Node, isArguments: boolean): boolean {
  if (SCALARS.has(type)) return false;
  if (type === 'string') return !CLOSED_FORMATS.has(node['format']) && !isShort(node['maxLength']);
  if (type === 'array') return !('items' in node || 'prefixItems' in node) || hasFreePart(node);
  return isArguments || 'properties' in node || node['additionalProperties'] === false ? hasFreeProperty(node) : true;
}

function hasFreeProperty(node: Node): boolean {
  return Object.values(asNode(node['properties'])).some((one) => isFree(one)) || hasFreePart(node);
}

function hasFreePart(node: Node): boolean {
  return NESTED.some((key) => {
    const part = node[key];
    if (part === undefined || part === false) return false;
    if (key === 'patternProperties') return true;
    // Names of further properties are free text, too.
    if (key === 'additionalProperties' || key === 'unevaluatedProperties') return true;
    return listOf(part).some((one) => isFree(one));
  });
}

function isShort(maxLength: unknown): boolean {
  return typeof maxLength === 'number' && maxLength <= SHORT;
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}
