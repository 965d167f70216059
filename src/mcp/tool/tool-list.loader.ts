import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonSchema } from '../../kernel/json/index.js';
import type { OpenedClient } from '../connection/opened-client.factory.js';
import { RAW_RESULT, type RawResult } from '../process/raw-result.mapper.js';
import { mapInSlices } from '../time-slice.policy.js';

/** A tool of a list, or the defect because of which only this tool is refused. */
export type ListedTool =
  { readonly tool: McpTool } | { readonly refused: { readonly name: string; readonly why: string } };

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** @param at index in the list, which replaces a missing name */
export function parseListedTool(given: unknown, at: number): ListedTool {
  if (!isJsonObject(given)) return { refused: { name: `#${at}`, why: `it is ${kindOf(given)} instead of an object` } };
  const { name } = given;
  if (typeof name !== 'string')
    return { refused: { name: `#${at}`, why: `its name is ${kindOf(name)} instead of a text` } };
  const why = isOnlyTask(given) ? ONLY_TASK : defectOf(given);
  return why === undefined ? { tool: usedParts(name, given) } : { refused: { name, why } };
}

const ONLY_TASK = 'it runs only as a task, which Jackdaw does not support';

type Members = Readonly<Record<string, unknown>>;

/** The schemas themselves are checked when they are compiled. */
function defectOf(given: Members): string | undefined {
  const { inputSchema, outputSchema, annotations } = given;
  for (const member of ['title', 'description']) {
    const value = given[member];
    if (value !== undefined && typeof value !== 'string') return `its ${member} is ${kindOf(value)} instead of a text`;
  }
  if (inputSchema === undefined) return 'it has no inputSchema';
  if (!isJsonObject(inputSchema)) return `its inputSchema is ${kindOf(inputSchema)} instead of an object`;
  if (inputSchema['type'] !== 'object') return 'its inputSchema does not have the type "object"';
  if (outputSchema !== undefined && !isJsonObject(outputSchema))
    return `its outputSchema is ${kindOf(outputSchema)} instead of an object`;
  return annotations === undefined ? undefined : annotationsDefect(annotations);
}

/** The protocol of 2025-11-25 refuses an ordinary call of such a tool. */
function isOnlyTask({ execution }: Members): boolean {
  return isJsonObject(execution) && execution['taskSupport'] === 'required';
}

function annotationsDefect(annotations: unknown): string | undefined {
  if (!isJsonObject(annotations)) return `its annotations are ${kindOf(annotations)} instead of an object`;
  const { title } = annotations;
  if (title !== undefined && typeof title !== 'string') return `the title of its annotations is ${kindOf(title)}`;
  const hint = HINTS.find((name) => annotations[name] !== undefined && typeof annotations[name] !== 'boolean');
  return hint === undefined ? undefined : `its ${hint} is ${kindOf(annotations[hint])} instead of true or false`;
}

/** Only these members are used; a defect in any other one has no effect. */
function usedParts(
  name: string,
  { title, description, inputSchema, outputSchema, annotations, _meta }: Members,
): McpTool {
  const hints = annotations && hintsOf(annotations);
  const parts = { title, description, inputSchema, outputSchema, annotations: hints, _meta: appMetaOf(_meta) };
  const present = Object.entries(parts).filter(([, value]) => value !== undefined);
  return { name, ...Object.fromEntries(present) } as McpTool;
}

/** The members of MCP Apps: `ui`, and the flat form of its older drafts. */
function appMetaOf(meta: unknown): Members | undefined {
  const members = Object.entries(isJsonObject(meta) ? meta : {}).filter(([key]) => /^ui(?:$|\/)/.test(key));
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function hintsOf(annotations: unknown): Members {
  const members = annotations as Members;
  return Object.fromEntries(
    ['title', ...HINTS].flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
  );
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
}

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
function headersDefect(schema: JsonSchema): string | undefined {
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

const LIST_TIMEOUT_MS = 30_000;
/** Maximum number of tools of a server. */
const MAX_TOOLS = 1000;
const MAX_PAGES = 64;
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** The tools of a server, and the reasons why others are refused, by their names on the server. */
export interface ListedTools {
  readonly tools: readonly McpTool[];
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Reads all pages of a server's tool list. A defective tool is the only one that is refused.
 * @throws Error if the list has too many tools or bytes, or takes too long
 */
export async function listTools(opened: OpenedClient, signal: AbortSignal): Promise<ListedTools> {
  const { client, listenTo } = opened;
  if (!client.getServerCapabilities()?.tools) return { tools: [], refused: new Map() };
  const limit = new AbortController();
  let received = 0;
  listenTo((bytes) => {
    received += bytes;
    if (received > MAX_LIST_BYTES) limit.abort(new Error(`its list of tools is longer than ${MAX_LIST_BYTES} bytes`));
  });
  const timer = setTimeout(
    () => limit.abort(new Error(`it did not list its tools within ${LIST_TIMEOUT_MS} ms`)),
    LIST_TIMEOUT_MS,
  );
  try {
    return await toListedTools(await readPages(opened, AbortSignal.any([signal, limit.signal])), opened, signal);
  } catch (error) {
    limit.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    listenTo(null);
  }
}

/** The entries of all pages, unchecked. */
async function readPages({ client }: OpenedClient, signal: AbortSignal): Promise<readonly unknown[]> {
  const options = { timeout: LIST_TIMEOUT_MS, maxTotalTimeout: LIST_TIMEOUT_MS, signal };
  const entries: unknown[] = [];
  let cursor: string | undefined;
  let previous: string | undefined;
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, RAW_RESULT, options);
    const page = entriesOf(tools);
    // Some servers repeat their last page forever.
    const text = typeof nextCursor === 'string' ? JSON.stringify(page) : undefined;
    if (text !== undefined && nextCursor === cursor && text === previous) return entries;
    entries.push(...page);
    if (entries.length > MAX_TOOLS)
      throw new Error(`it has ${entries.length} tools or more, more than the maximum of ${MAX_TOOLS}`);
    if (typeof nextCursor !== 'string') return entries;
    cursor = nextCursor;
    previous = text;
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}

/** Some servers write an empty list as null. */
function entriesOf(tools: RawResult['tools']): readonly unknown[] {
  if (Array.isArray(tools)) return tools;
  if (tools === undefined || tools === null) return [];
  throw new Error(`its list of tools is of type ${typeof tools}`);
}

async function toListedTools(
  entries: readonly unknown[],
  { client, pid }: OpenedClient,
  signal: AbortSignal,
): Promise<ListedTools> {
  const tools: McpTool[] = [];
  const refused = new Map<string, string>();
  const usesHeaders = pid === null && client.getProtocolEra() === 'modern';
  const parse = (entry: unknown, at: number): void => {
    const listed = parseListedTool(entry, at);
    const { name, why } = 'refused' in listed ? listed.refused : withHeaders(listed.tool, usesHeaders);
    if (why !== undefined) refused.set(name, why);
    else if ('tool' in listed) tools.push(listed.tool);
  };
  await mapInSlices(entries, parse, signal);
  return { tools, refused };
}

function withHeaders({ name, inputSchema }: McpTool, usesHeaders: boolean): { name: string; why: string | undefined } {
  return { name, why: usesHeaders ? headersDefect(inputSchema) : undefined };
}
