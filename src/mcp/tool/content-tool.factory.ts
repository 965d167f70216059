import type { Client, Tool as McpTool, ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../../kernel/json/index.js';
import type { ToolEffect, ToolOrigin } from '../../tool/index.js';
import { createValueCheck } from '../../tool/input/index.js';
import type { Tool, ToolContext } from '../../tool/method/index.js';
import type { CallChannel } from '../call/mcp-call.executor.js';
import {
  getPrompt,
  listPrompts,
  listResources,
  readResource,
  type RequestLimits,
} from '../call/server-content.client.js';
import { NotProcessedError } from '../connection/not-processed.error.js';
import type { McpServer } from '../mcp-server.types.js';

/** Selects the connection of a call. @throws McpError if the tool must no longer be called */
export type ChannelOf = (context: ToolContext) => CallChannel;

/**
 * Makes a call. Repeats it once on a new connection if the server certainly did not process it, for example because it
 * restarted and no longer knows the session.
 */
export async function callBy<T>(
  channelOf: ChannelOf,
  context: ToolContext,
  call: (channel: CallChannel) => Promise<T>,
): Promise<T> {
  const channel = channelOf(context);
  try {
    return await call(channel);
  } catch (error) {
    if (!(error instanceof NotProcessedError)) throw error;
    await channel.connection.renewed(context.signal);
    // The tool may have changed or disappeared meanwhile.
    return call(channelOf(context));
  }
}

/** The effect of a tool: the operator's statement; else the believed hint of its server; else `once`. */
export function effectOf({ name, annotations = {} }: McpTool, { effects, areHintsBelieved }: McpServer): ToolEffect {
  const declared = Object.hasOwn(effects, name) ? effects[name] : undefined;
  if (declared) return declared;
  if (!areHintsBelieved) return 'once';
  if (annotations.readOnlyHint) return 'read';
  return annotations.idempotentHint ? 'idempotent' : 'once';
}

/**
 * Whether a call can carry data out or change something. The operator's setting decides. Without one, only a tool is
 * exempt that a program on this machine hints to be reading and not to reach the world outside.
 */
export function egressOf({ annotations = {} }: McpTool, { egress, areHintsBelieved, transport }: McpServer): boolean {
  if (egress !== undefined) return egress;
  const isLocal = transport.kind === 'stdio' && urlsOf(transport.args).length === 0;
  const isHinted = annotations.readOnlyHint === true && annotations.openWorldHint === false;
  return !(isLocal && areHintsBelieved && isHinted);
}

/** @param isReadOnly whether calls of the tool only read */
export function originOf({ name, transport }: McpServer, isReadOnly: boolean): ToolOrigin {
  const urls = transport.kind === 'http' ? [new URL(transport.url)] : urlsOf(transport.args);
  return { name: `MCP server "${name}"`, hosts: urls.map(({ hostname }) => hostname), isReadOnly };
}

/** HTTP addresses among the arguments of a program, which is then a bridge to another server. */
function urlsOf(args: readonly string[]): URL[] {
  return args.flatMap((argument) => (/^https?:/i.test(argument) ? (URL.parse(argument) ?? []) : []));
}

/** A tool of Jackdaw for a server's resources or prompts, with its name on the server. */
export interface ContentTool {
  readonly name: string;
  readonly needs: 'resources' | 'prompts';
  readonly description: string;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly read: (client: Client, args: ContentArguments, limits: RequestLimits) => Promise<unknown>;
}

interface ContentArguments {
  readonly cursor?: string;
  readonly uri: string;
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

const CURSOR = { cursor: { type: 'string', description: 'The `next` of the previous page.' } };

const CONTENT_TOOLS: readonly ContentTool[] = [
  {
    name: 'list_resources',
    needs: 'resources',
    description: 'Lists the resources for read_resource: each has a uri and a name.',
    properties: CURSOR,
    required: [],
    read: (client, { cursor }, limits) => listResources(client, cursor, limits),
  },
  {
    name: 'read_resource',
    needs: 'resources',
    description: 'Reads a resource by its uri from list_resources.',
    properties: { uri: { type: 'string' } },
    required: ['uri'],
    read: (client, { uri }, limits) => readResource(client, uri, limits),
  },
  {
    name: 'list_prompts',
    needs: 'prompts',
    description: 'Lists the prompts for get_prompt, with their arguments.',
    properties: CURSOR,
    required: [],
    read: (client, { cursor }, limits) => listPrompts(client, cursor, limits),
  },
  {
    name: 'get_prompt',
    needs: 'prompts',
    description: 'Returns the messages of a prompt.',
    properties: {
      name: { type: 'string' },
      arguments: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['name'],
    read: (client, { name, arguments: args = {} }, limits) => getPrompt(client, name, args, limits),
  },
];

/** Tools for the resources and prompts of a server. */
export function contentToolsOf(capabilities: ServerCapabilities): readonly ContentTool[] {
  return CONTENT_TOOLS.filter(({ needs }) => capabilities[needs] !== undefined);
}

/** @param name the tool's name in Jackdaw */
export function createContentTool(
  name: string,
  { description, properties, required, read }: ContentTool,
  server: McpServer,
  channelOf: ChannelOf,
): Tool {
  const inputSchema = { type: 'object', properties, required: [...required], additionalProperties: false };
  const check = createValueCheck(inputSchema, 'arguments', 'its input');
  const { timeoutMs: timeout, isUntrusted, isPrivate, isStateful } = server;
  return {
    definition: { name, description: `${description} Of MCP server "${server.name}".`, inputSchema },
    metadata: {
      effect: 'read',
      source: `MCP server "${server.name}"`,
      timeoutMs: timeout,
      // The arguments can carry data out.
      egress: server.egress ?? true,
      untrusted: isUntrusted,
      private: isPrivate,
      // The protocol defines these requests as reading.
      origin: originOf(server, true),
      isReturnForeign: true,
      ...(isStateful && { state: {} }),
    },
    validate: (args) => check(args),
    invoke: (input, context) =>
      callBy(channelOf, context, ({ connection }) => {
        const limits = { signal: context.signal, timeout, maxTotalTimeout: timeout };
        return connection.use((client) => read(client, input as ContentArguments, limits), context.signal);
      }),
  };
}
