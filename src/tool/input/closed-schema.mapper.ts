import type { JsonSchema } from '../../kernel/json/index.js';

type Node = Record<string, unknown>;

/** Keywords with schemas for other values than the node's own. */
const CHILD = ['items', 'prefixItems', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains'];
const CHILD_MAPS = ['properties', 'patternProperties'];
/** Keywords with schemas for the same value as the node; the node closes their open parts. */
const SAME = ['allOf', 'if', 'then', 'else'];
const CHOICES = ['anyOf', 'oneOf'];
const DEFINITIONS = ['$defs', 'definitions'];

/**
 * Closes a schema: every object with named properties rejects unknown ones, unless it specifies otherwise. A misspelt
 * argument is thus an error. A schema that describes a value together with others (in `allOf`, or beside `properties`)
 * stays open; `unevaluatedProperties` closes the whole. `$schema` is removed: all schemas are 2020-12.
 */
export function closeSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _dropped, ...root } = schema;
  return close(root, false, partsOf(root)) as JsonSchema;
}

function close(node: unknown, isPart: boolean, parts: ReadonlySet<string>): unknown {
  if (Array.isArray(node)) return node.map((member) => close(member, isPart, parts));
  if (!isNode(node)) return node;
  const closed: Node = { ...node };
  const whole = (key: string): void => void (closed[key] = close(node[key], false, parts));
  const part = (key: string): void => void (closed[key] = close(node[key], true, parts));
  const own = (keys: readonly string[]): string[] => keys.filter((key) => key in node);
  own(CHILD).forEach(whole);
  own(SAME).forEach(part);
  own(CHOICES).forEach(isPart || isComposed(node) ? part : whole);
  for (const key of own(CHILD_MAPS)) closed[key] = mapValues(node[key], (child) => close(child, false, parts));
  for (const key of own(['dependentSchemas'])) closed[key] = mapValues(node[key], (child) => close(child, true, parts));
  for (const key of own(DEFINITIONS)) {
    closed[key] = mapValues(node[key], (child, name) => close(child, parts.has(`#/${key}/${name}`), parts));
  }
  const closing = isPart ? undefined : closingOf(node);
  if (closing) closed[closing] = false;
  return closed;
}

function closingOf(node: Node): 'additionalProperties' | 'unevaluatedProperties' | undefined {
  if ('additionalProperties' in node || 'unevaluatedProperties' in node) return undefined;
  if (!isComposed(node)) return undefined;
  const isAlone = ![...SAME, ...CHOICES, '$ref', 'dependentSchemas'].some((key) => key in node);
  return isAlone ? 'additionalProperties' : 'unevaluatedProperties';
}

/** Whether a node names its properties, directly or in its parts. */
function isComposed(node: Node): boolean {
  if ('properties' in node) return true;
  return Array.isArray(node.allOf) && node.allOf.some((part) => isNode(part) && ('$ref' in part || isComposed(part)));
}

/** Local references to a part of an object, whose targets must stay open. */
function partsOf(node: unknown, isPart = false, found = new Set<string>()): Set<string> {
  if (Array.isArray(node)) node.forEach((member) => partsOf(member, isPart, found));
  if (!isNode(node)) return found;
  const isShared = isPart || isComposed(node);
  if (isShared && typeof node.$ref === 'string') found.add(node.$ref);
  const shared = isShared ? [...SAME, ...CHOICES] : SAME;
  for (const [key, child] of Object.entries(node)) partsOf(child, shared.includes(key), found);
  return found;
}

function mapValues(value: unknown, change: (child: unknown, key: string) => unknown): unknown {
  if (!isNode(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, change(child, key)]));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
