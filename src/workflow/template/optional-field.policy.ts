import { isJsonObject, type JsonSchema } from '../../kernel/json/index.js';
import { valueAt } from '../../rest-tool/index.js';

/** Maximum number of references to follow, because a schema may refer to itself. */
const MAX_REFERENCES = 100;

/**
 * Whether the schema declares the field at this path and does not require it. Fields of unions and undeclared fields
 * are not optional.
 * @param isNull whether the value is null: the field is then optional only if the schema rejects null
 */
export function isOptional(schema: JsonSchema, path: readonly string[], isNull = false): boolean {
  let owner: unknown = schema;
  for (const key of path.slice(0, -1)) owner = childOf(target(owner, schema), key);
  const { properties, required } = fieldsOf(target(owner, schema));
  const name = path.at(-1)!;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return false;
  if (Array.isArray(required) && required.includes(name)) return false;
  return !isNull || !takesNull(target(properties[name], schema));
}

/** Whether null may be valid; a schema without a type, enum or const accepts it. */
function takesNull(schema: unknown): boolean {
  const { type, enum: members, const: only } = fieldsOf(schema);
  if (type !== undefined) return [type].flat().includes('null');
  if (Array.isArray(members)) return members.includes(null);
  return only === undefined || only === null;
}

function childOf(schema: unknown, key: string): unknown {
  const { properties, items } = fieldsOf(schema);
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  return /^\d+$/.test(key) ? items : undefined;
}

/** The schema, or the target of its local reference. */
function target(schema: unknown, root: JsonSchema): unknown {
  let found = schema;
  for (let n = 0; n < MAX_REFERENCES; n++) {
    const { $ref } = fieldsOf(found);
    if (typeof $ref !== 'string') return found;
    found = /^#(?:\/|$)/.test($ref) ? valueAt(root, keysOf($ref)) : undefined;
  }
  return undefined;
}

/** The keys of a JSON pointer in a fragment (RFC 6901, section 6). */
function keysOf(reference: string): string[] {
  const keys = reference.split('/').slice(1);
  return keys.map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function fieldsOf(schema: unknown): Record<string, unknown> {
  return isJsonObject(schema) ? schema : {};
}
