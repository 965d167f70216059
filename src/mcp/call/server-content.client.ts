import type {
  Client,
  Prompt,
  PromptMessage,
  Resource,
  ResourceContents,
  ResourceTemplateType,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../common/index.js';
import { McpError } from '../mcp.error.js';

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

/** Invalid params, and "resource not found" of protocols before 2026. */
const NOT_FOUND: ReadonlySet<number> = new Set([-32_602, -32_002]);
/** Maximum number of entries of a page. */
const MAX_ITEMS = 1000;

/** Reads one page: without a cursor, the SDK's own lists read all pages. */
export async function listResources(
  client: Client,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<McpPage<Resource>> {
  const { resources, nextCursor } = await client.request(
    { method: 'resources/list', params: paramsOf(cursor) },
    limits,
  );
  return toPage(resources, nextCursor);
}

export async function listTemplates(
  client: Client,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<McpPage<ResourceTemplateType>> {
  const request = { method: 'resources/templates/list', params: paramsOf(cursor) } as const;
  const { resourceTemplates, nextCursor } = await client.request(request, limits);
  return toPage(resourceTemplates, nextCursor);
}

export async function readResource(
  client: Client,
  uri: string,
  limits: RequestLimits,
): Promise<readonly ResourceContents[]> {
  const read = client.readResource({ uri }, { ...limits, cacheMode: 'bypass' });
  return (await read.catch(notFound('RESOURCE_NOT_FOUND', `resource ${JSON.stringify(uri)}`))).contents;
}

export async function listPrompts(
  client: Client,
  cursor: string | undefined,
  limits: RequestLimits,
): Promise<McpPage<Prompt>> {
  const { prompts, nextCursor } = await client.request({ method: 'prompts/list', params: paramsOf(cursor) }, limits);
  return toPage(prompts, nextCursor);
}

export async function getPrompt(
  client: Client,
  name: string,
  args: Readonly<Record<string, string>>,
  limits: RequestLimits,
): Promise<readonly PromptMessage[]> {
  const got = client.getPrompt({ name, arguments: { ...args } }, limits);
  return (await got.catch(notFound('PROMPT_NOT_FOUND', `prompt ${JSON.stringify(name)}`))).messages;
}

/** Servers report "not found" by a code that also reports other invalid parameters. */
function notFound(code: 'RESOURCE_NOT_FOUND' | 'PROMPT_NOT_FOUND', what: string): (error: unknown) => never {
  return (error) => {
    if (!NOT_FOUND.has((error as { code?: unknown }).code as number)) throw error;
    throw new McpError(code, `The server did not return ${what}: ${messageOf(error)}`, undefined, { cause: error });
  };
}

function paramsOf(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

function toPage<Item extends object>(items: readonly Item[], next: string | undefined): McpPage<Item> {
  return { items: items.slice(0, MAX_ITEMS), next: next ?? null };
}
