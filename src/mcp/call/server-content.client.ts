import type { Client } from '@modelcontextprotocol/client';
import { AppError, Log, messageOf } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { McpError } from '../mcp.error.js';
import { RAW_RESULT, type RawResult } from '../process/raw-result.mapper.js';

export interface RequestLimits {
  readonly signal: AbortSignal;
  /** In ms. */
  readonly timeout: number;
  readonly maxTotalTimeout: number;
}

/** A page of a server's list. */
export interface McpPage<Item extends object = object> {
  readonly items: readonly Item[];
  /** The cursor of the next page; `null` on the last page. */
  readonly next: string | null;
}

type Kind = 'text' | 'number' | 'boolean' | 'object' | 'list';
type Members = Readonly<Record<string, Kind>>;

/** The entries of a list: an entry without its required texts is left out, and so is a member of another type. */
interface Entries {
  readonly required: readonly string[];
  readonly optional: Members;
}

/** Invalid params, and "resource not found" of protocols before 2026. */
const NOT_FOUND: ReadonlySet<number> = new Set([-32_602, -32_002]);
/** Maximum number of entries of a page. */
const MAX_ITEMS = 1000;

const DESCRIBED: Members = { title: 'text', description: 'text', icons: 'list', _meta: 'object' };
const RESOURCE: Members = { ...DESCRIBED, mimeType: 'text', annotations: 'object' };
const RESOURCES: Entries = { required: ['uri', 'name'], optional: { ...RESOURCE, size: 'number' } };
const TEMPLATES: Entries = { required: ['uriTemplate', 'name'], optional: RESOURCE };
const PROMPTS: Entries = { required: ['name'], optional: DESCRIBED };
const ARGUMENTS: Entries = {
  required: ['name'],
  optional: { title: 'text', description: 'text', required: 'boolean' },
};
const CONTENTS: Entries = {
  required: [],
  optional: { uri: 'text', mimeType: 'text', text: 'text', blob: 'text', _meta: 'object' },
};
const MESSAGES: Entries = { required: [], optional: { role: 'text' } };

const logger = new Log('McpContent');

/** Reads one page: without a cursor, the SDK's own lists read all pages. */
export async function listResources(
  client: Client,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<McpPage> {
  const { resources, nextCursor } = await requestPage(client, 'resources/list', cursor, limits);
  return toPage(entriesOf(resources, RESOURCES), nextCursor);
}

export async function listTemplates(
  client: Client,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<McpPage> {
  const { resourceTemplates, nextCursor } = await requestPage(client, 'resources/templates/list', cursor, limits);
  return toPage(entriesOf(resourceTemplates, TEMPLATES), nextCursor);
}

export async function readResource(client: Client, uri: string, limits: RequestLimits): Promise<readonly object[]> {
  const read = request(client, 'resources/read', { uri }, limits);
  const { contents } = await read.catch(async (error: unknown) => {
    throw await resourceFailure(client, uri, error, limits);
  });
  return entriesOf(contents, CONTENTS);
}

export async function listPrompts(client: Client, cursor: string | undefined, limits: RequestLimits): Promise<McpPage> {
  const { prompts, nextCursor } = await requestPage(client, 'prompts/list', cursor, limits);
  const items = entriesOf(prompts, PROMPTS, ({ arguments: args }) =>
    Array.isArray(args) ? { arguments: entriesOf(args, ARGUMENTS) } : {},
  );
  return toPage(items, nextCursor);
}

export async function getPrompt(
  client: Client,
  name: string,
  args: Readonly<Record<string, string>>,
  limits: RequestLimits,
): Promise<readonly object[]> {
  const got = request(client, 'prompts/get', { name, arguments: { ...args } }, limits);
  const { messages } = await got.catch(async (error: unknown) => {
    throw await promptFailure(client, { name, args }, error, limits);
  });
  // The content is of any kind: it is passed on as JSON.
  return entriesOf(messages, MESSAGES, ({ content }) => ({ content }));
}

function request(client: Client, method: string, params: RawResult, limits: RequestLimits): Promise<RawResult> {
  return client.request({ method, params }, RAW_RESULT, limits);
}

/** @throws AppError `VALIDATION_FAILED` if the server rejects the cursor */
async function requestPage(
  client: Client,
  method: string,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<RawResult> {
  if (cursor === undefined) return request(client, method, {}, limits);
  try {
    return await request(client, method, { cursor }, limits);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw mistake('cursor', `the server does not accept it: ${messageOf(error)}`, cursor, error);
  }
}

/**
 * Servers report an unknown resource by different codes, so another error of the server counts as its failure only if
 * the server lists the resource.
 */
async function resourceFailure(client: Client, uri: string, error: unknown, limits: RequestLimits): Promise<unknown> {
  const code = codeOf(error);
  if (code === undefined) return error;
  const isListed = async () => {
    const page = await listResources(client, undefined, limits).catch(() => undefined);
    return !page || page.next !== null || page.items.some((item) => (item as { uri?: unknown }).uri === uri);
  };
  return NOT_FOUND.has(code) || !(await isListed())
    ? notFound('RESOURCE_NOT_FOUND', `resource ${JSON.stringify(uri)}`, error)
    : error;
}

/** Servers report an unknown prompt and wrong arguments by the same code; their list shows which it is. */
async function promptFailure(
  client: Client,
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, string>> },
  error: unknown,
  limits: RequestLimits,
): Promise<unknown> {
  const code = codeOf(error);
  if (code === undefined) return error;
  const page = await listPrompts(client, undefined, limits).catch(() => undefined);
  const prompt = (page?.items as readonly ListedPrompt[] | undefined)?.find((one) => one.name === name);
  const isRefused = NOT_FOUND.has(code);
  const what = `prompt ${JSON.stringify(name)}`;
  if (!prompt) return isRefused || page?.next === null ? notFound('PROMPT_NOT_FOUND', what, error) : error;
  return (
    wrongArguments(prompt, args, error) ?? (isRefused ? mistake('arguments', messageOf(error), args, error) : error)
  );
}

function wrongArguments(
  { name, arguments: wanted = [] }: ListedPrompt,
  args: Readonly<Record<string, string>>,
  error: unknown,
): AppError | undefined {
  const missing = wanted.find((one) => one.required && args[one.name] === undefined);
  return missing && mistake(`arguments.${missing.name}`, `the prompt "${name}" requires it`, undefined, error);
}

interface ListedPrompt {
  readonly name: string;
  readonly arguments?: readonly { readonly name: string; readonly required?: boolean }[];
}

/** The code of an error that the server reported; undefined for a failure of the connection. */
function codeOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

function notFound(code: 'RESOURCE_NOT_FOUND' | 'PROMPT_NOT_FOUND', what: string, cause: unknown): McpError {
  return new McpError(code, `The server did not return ${what}: ${messageOf(cause)}`, undefined, { cause });
}

function mistake(field: string, reason: string, got: unknown, cause: unknown): AppError {
  const message = `${field}: ${reason}`;
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}`, {
    details: { errors: [fieldMistake(field, message, 'isAccepted', got)] },
    cause,
  });
}

function toPage(items: readonly object[], next: unknown): McpPage {
  return { items: items.slice(0, MAX_ITEMS), next: typeof next === 'string' ? next : null };
}

/** @param more further members of an entry */
function entriesOf(
  given: unknown,
  { required, optional }: Entries,
  more: (entry: RawResult) => object = () => ({}),
): object[] {
  const list = Array.isArray(given) ? (given as unknown[]) : [];
  const entries = list.filter(
    (entry): entry is RawResult => isJsonObject(entry) && required.every((name) => typeof entry[name] === 'string'),
  );
  if (entries.length < list.length)
    logger.warn(
      `Left out ${list.length - entries.length} of ${list.length} entries: each must be an object${required.length > 0 ? ` with ${required.join(' and ')}` : ''}`,
    );
  return entries.map((entry) => ({
    ...Object.fromEntries(required.map((name) => [name, entry[name]])),
    ...Object.fromEntries(Object.entries(optional).flatMap(([name, kind]) => memberOf(entry, name, kind))),
    ...more(entry),
  }));
}

function memberOf(entry: RawResult, name: string, kind: Kind): [string, unknown][] {
  const value = entry[name];
  return isOf(kind, value) ? [[name, value]] : [];
}

function isOf(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'object':
      return isJsonObject(value);
    case 'list':
      return Array.isArray(value);
    case 'number':
    case 'boolean':
      return typeof value === kind;
  }
}
