import type { ErrorObject } from 'ajv/dist/2020.js';
import { keysOf } from './reason.mapper.js';
import type { Checked } from './schema-check.factory.js';
import { isSchemaNode, partAt, type SchemaNode } from './subschema.mapper.js';

type SchemasAt = (keys: readonly string[]) => readonly SchemaNode[];

/** Keywords with schemas for the same value. */
const SAME = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];
/** Keywords with schemas for members without a schema of their own. */
const MEMBERS = [
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'prefixItems',
  'contains',
  'unevaluatedItems',
];

/**
 * Arguments without the optional members that are null although their schema does not allow null: many models write
 * null for an argument that they do not use (github.com/mastra-ai/mastra/issues/17655). The keys of a map are data, so
 * only members that a schema names are optional. Yields a value to check, and receives the result.
 * @param schema schema of the arguments
 * @param errors errors of `args`
 * @param copyOf copies arguments
 * @param toChecked arguments in the form for a check
 * @returns `undefined` if there is no such member
 */
export function* withoutOptionalNulls(
  args: unknown,
  schema: SchemaNode,
  errors: readonly ErrorObject[],
  copyOf: (args: unknown) => unknown,
  toChecked: (args: unknown) => unknown,
): Generator<unknown, unknown, Checked> {
  const schemasAt = schemasOf(schema);
  const found = errors.filter(({ data }) => data === null).map(({ instancePath }) => instancePath);
  const nulls = new Set(found.filter((place) => isNamed(keysOf(place), schemasAt)));
  const without = (places: Iterable<string>): unknown => {
    const copy = copyOf(args);
    for (const place of places) remove(copy, keysOf(place));
    return copy;
  };
  if (nulls.size === 0) return undefined;
  const checked = yield toChecked(without(nulls));
  for (const { keyword, instancePath, params } of checked.errors)
    if (keyword === 'required') nulls.delete(`${instancePath}/${toKey(String(params['missingProperty']))}`);
  return nulls.size === 0 ? undefined : without(nulls);
}

/** A key in a JSON pointer. */
function toKey(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isNamed(keys: readonly string[], schemasAt: SchemasAt): boolean {
  const name = keys.at(-1);
  return name !== undefined && schemasAt(keys.slice(0, -1)).some((node) => named(node, name) !== undefined);
}

function named({ properties }: SchemaNode, name: string): unknown {
  return isSchemaNode(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Finds the schemas that may apply to a part of a value. */
function schemasOf(root: SchemaNode): SchemasAt {
  const known = new Map<string, readonly SchemaNode[]>();
  const schemasAt: SchemasAt = (keys) => {
    const place = keys.map(toKey).join('/');
    const found = known.get(place) ?? withSame(keys.length === 0 ? [root] : membersOf(keys), root);
    known.set(place, found);
    return found;
  };
  const membersOf = (keys: readonly string[]): readonly unknown[] =>
    schemasAt(keys.slice(0, -1)).flatMap((node) => memberSchemas(node, keys.at(-1)!));
  return schemasAt;
}

function memberSchemas(node: SchemaNode, key: string): readonly unknown[] {
  const { patternProperties } = node;
  const own = named(node, key);
  const patterns = isSchemaNode(patternProperties) ? Object.values(patternProperties) : [];
  return own === undefined ? [...patterns, ...MEMBERS.flatMap((keyword) => node[keyword])] : [own, ...patterns];
}

/** The schemas, and those for the same value that they contain or refer to. */
function withSame(schemas: readonly unknown[], root: SchemaNode): readonly SchemaNode[] {
  const found = new Set<SchemaNode>();
  const rest = [...schemas];
  while (rest.length > 0) {
    const node = rest.pop();
    if (!isSchemaNode(node) || found.has(node)) continue;
    found.add(node);
    const { $ref, dependentSchemas } = node;
    if (typeof $ref === 'string') rest.push(partAt(root, $ref));
    if (isSchemaNode(dependentSchemas)) rest.push(...Object.values(dependentSchemas));
    for (const keyword of SAME) rest.push(...[node[keyword]].flat());
  }
  return [...found];
}

/** Elements of a list stay: their number matters. */
function remove(root: unknown, path: readonly string[]): void {
  let parent = root as Record<string, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  if (!Array.isArray(parent)) delete parent[path.at(-1)!];
}
