import { isJsonObject, type JsonSchema } from '../../kernel/index.js';

/** Keyword of an argument that the client also sends as a header `Mcp-Param-…` (SEP-2243, since 2026 over HTTP). */
const KEYWORD = 'x-mcp-header';
/** A header name (RFC 9110). */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['default', 'const', 'enum', 'examples']);

/**
 * Why the headers of a tool's arguments are invalid; undefined if they are valid. The protocol requires a client to
 * refuse such a tool.
 */
export function headersDefect(schema: JsonSchema): string | undefined {
  const names = new Set<string>();
  const declared = reachable(schema);
  for (const { [KEYWORD]: name, type } of declared) {
    if (typeof name !== 'string' || !TOKEN.test(name))
      return `its ${KEYWORD} ${JSON.stringify(name)} is no header name`;
    if (!TYPES.has(type)) return `its ${KEYWORD} "${name}" belongs to an argument that is no text, integer or boolean`;
    if (names.has(name.toLowerCase())) return `its ${KEYWORD} "${name}" is used twice`;
    names.add(name.toLowerCase());
  }
  return count(schema) > declared.length ? `its ${KEYWORD} is outside of \`properties\`` : undefined;
}

/** Schemas with the keyword that are reachable by `properties` only. */
function reachable({ properties }: JsonSchema): JsonSchema[] {
  if (!isJsonObject(properties)) return [];
  const children = Object.values(properties).filter(isJsonObject);
  return children.flatMap((child) => [...(KEYWORD in child ? [child] : []), ...reachable(child)]);
}

/** Number of schemas with the keyword anywhere. */
function count(schema: unknown, isSchema = true): number {
  if (Array.isArray(schema)) return schema.reduce<number>((sum, one) => sum + count(one), 0);
  if (!isJsonObject(schema)) return 0;
  const own = isSchema && KEYWORD in schema ? 1 : 0;
  const inner = Object.entries(schema).filter(([key]) => !(isSchema && (DATA.has(key) || key === KEYWORD)));
  return inner.reduce((sum, [key, value]) => sum + count(value, !(isSchema && key === 'properties')), own);
}
