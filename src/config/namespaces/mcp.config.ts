import { absolutePathList, flag, integer, pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

/** MCP servers whose tools agents use. */
export const mcpConfig = namespace(
  'jackdaw.mcp',
  'MCP servers',
  {
    MCP_SERVERS_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
      .optional()
      .describe(
        'File of MCP servers, in the format of `mcpServers` (docs/mcp.md); by default `config/mcp-servers.json`, if it exists',
      ),
    MCP_TIMEOUT_MS: integer(1, 86_400_000, 'ms')
      .default(60_000)
      .describe('Time limit of an MCP tool call, in ms, regardless of progress reports; a server may override it'),
    MCP_MAX_MESSAGE_BYTES: integer(1024, 1_073_741_824, 'bytes')
      .default(10_485_760)
      .describe('Maximum size of a message from an MCP server; a longer one ends the connection'),
    MCP_ALLOWED_COMMANDS: absolutePathList()
      .optional()
      .describe('Permitted programs for MCP servers, as absolute paths, comma-separated; by default any'),
    MCP_REST_REGISTRATION: flag()
      .default(false)
      .describe('Whether an admin may add MCP servers over REST (HTTP servers only, no programs)'),
  },
  (env, { mcpServers }) => ({
    file: mcpServers,
    timeoutMs: env.MCP_TIMEOUT_MS,
    maxMessageBytes: env.MCP_MAX_MESSAGE_BYTES,
    /** Whether servers may be added over REST. */
    isRestOpen: env.MCP_REST_REGISTRATION,
    ...compact({ allowedCommands: env.MCP_ALLOWED_COMMANDS }),
  }),
);
export type McpClientConfig = NamespaceConfig<typeof mcpConfig>;
