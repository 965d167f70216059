import { absolutePathList, flag, integer, pattern } from './env-value.schema.js';

/** Which MCP servers there are, and what they may. */
export const MCP_VARIABLES = {
  MCP_SERVERS_FILE: pattern(/^[^~]/, 'a path without ~, which only a shell expands')
    .optional()
    .describe(
      'The file that names MCP servers, in the format of `mcpServers` (docs/mcp.md); by default `config/mcp-servers.json`, if it is there',
    ),
  MCP_TIMEOUT_MS: integer(1, 86_400_000, 'ms')
    .default(60_000)
    .describe('How long a call of an MCP tool may take, whatever progress it tells of; a server may have its own'),
  MCP_MAX_MESSAGE_BYTES: integer(1024, 1_073_741_824, 'bytes')
    .default(10_485_760)
    .describe('The longest message that an MCP server may send; with a longer one its connection ends'),
  MCP_ALLOWED_COMMANDS: absolutePathList()
    .optional()
    .describe('The only programs that MCP servers may be started with, as absolute paths, comma-separated'),
  MCP_REST_REGISTRATION: flag()
    .default(false)
    .describe('Whether an admin may add MCP servers over REST (HTTP only; none can be started as a program)'),
};
