import { choice, integer, originList, pattern } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { workerNumber } from '../worker.loader.js';
import { serverConfig } from './server.config.js';

/** Jackdaw's own MCP server. */
export const mcpServerConfig = namespace(
  'jackdaw.mcp-server',
  'MCP server',
  {
    MCP_SERVER: choice(['on', 'off'])
      .default('on')
      .describe(
        'Whether `/mcp` serves tools, agents, sessions and runs to MCP clients: `on` or `off` (docs/mcp-server.md)',
      ),
    MCP_ALLOWED_ORIGINS: originList()
      .optional()
      .describe(
        'Origins of web pages that may call `/mcp`, comma-separated, such as `https://app.example`; pages of this machine and of the server itself are always permitted',
      ),
    MCP_MAX_SESSIONS: integer(1, 100_000)
      .default(1000)
      .describe('Maximum sessions per process; only MCP clients older than protocol 2026-07-28 need a session'),
    MCP_SESSION_IDLE_SECONDS: integer(1, 604_800, 's')
      .default(1800)
      .describe('Time without a request or an open stream after which such a session is closed, in seconds'),
    MCP_STDIO_KEY: pattern(/^\S{1,1000}$/, 'an API key')
      .optional()
      .meta({
        isSecret: true,
        description: 'API key of `npm run mcp:stdio`; without API keys it acts as this machine’s user',
      }),
  },
  (env) => ({
    isEnabled: env.MCP_SERVER === 'on',
    /** Pages of these origins may call `/mcp`, and a server without keys. */
    allowedOrigins: [...(env.CORS_ORIGINS ?? []), ...(env.MCP_ALLOWED_ORIGINS ?? [])],
    maxSessions: env.MCP_MAX_SESSIONS,
    sessionIdleMs: env.MCP_SESSION_IDLE_SECONDS * 1000,
    /** `worker`: the number of this worker, for the ids of sessions. */
    ...compact({ apiKey: env.MCP_STDIO_KEY, worker: workerNumber() }),
  }),
  serverConfig,
);
export type McpEndpointConfig = NamespaceConfig<typeof mcpServerConfig>;
