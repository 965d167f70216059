/** Tools of MCP servers as tools of Jackdaw: background connections, trust only by an operator's decision. */
import { McpServerEntity } from './entities/mcp-server.entity.js';
import { McpToolPinEntity } from './entities/mcp-tool-pin.entity.js';
import { CreateMcp1764000000016 } from './migrations/1764000000016-create-mcp.migration.js';
import { ExtendToolPin1764000000021 } from './migrations/1764000000021-extend-tool-pin.migration.js';

export type {
  HttpConfig,
  McpConfig,
  McpHandling,
  McpServerConfig,
  StdioConfig,
} from './declaration/mcp-config.types.js';
export { registerMcp, McpRegistry } from './mcp-server.registry.js';
export { McpError, McpErrorType, toMcpError } from './mcp.error.js';
export type { McpErrorCode } from './mcp.error.js';
export { McpModule } from './mcp.module.js';
export type { ConnectedServer } from './connected-server.service.js';
export { McpContent } from './mcp-content.service.js';
export type { McpPage } from './call/server-content.client.js';
export { McpServerService } from './mcp-server.service.js';
export type { McpAuth, McpClientCredentials, McpServerStatus } from './mcp-server.types.js';
export type { McpOAuthProvider } from './oauth-provider.types.js';
export { standaloneServer, unregisterMcp } from './standalone-servers.registry.js';
export { MCP_SEALED_TABLES } from './stores/mcp-server.store.js';
export { ToolPinStore, type ToolPin } from './stores/tool-pin-store.js';
export { type McpToolsChanged, type ChangedTool } from './trust/definition-changes.js';
export { differencesOf } from './trust/definition-difference.mapper.js';
export type { WaitingTools } from './trust/tool-trust.service.js';

export const MCP_ENTITIES = [McpToolPinEntity, McpServerEntity];
export const MCP_MIGRATIONS = [CreateMcp1764000000016, ExtendToolPin1764000000021];
export type { McpOAuthClient } from './oauth-provider.types.js';
export type { McpOAuthTokens } from './oauth-provider.types.js';
