import type { Client, ServerCapabilities } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../../kernel/index.js';
import { createValueCheck, type Tool } from '../../tool/index.js';
import { callBy, type ChannelOf } from '../call/second-attempt.executor.js';
import {
  getPrompt,
  listPrompts,
  listResources,
  readResource,
  type RequestLimits,
} from '../call/server-content.client.js';
import type { McpServer } from '../mcp-server.types.js';
import { originOf } from './tool-effect.policy.js';

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
