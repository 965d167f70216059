/** Tools of MCP servers as tools of Jackdaw: connections in the background, and no trust that nobody gave. */
export type { HttpConfig, McpConfig, StdioConfig } from './declaration/mcp-config.types.js';
export { registerMcp, unregisterMcp } from './declaration/mcp-declarations.registry.js';
export { McpError, McpErrorType } from './mcp.error.js';
export type { McpErrorCode } from './mcp.error.js';
export { McpModule } from './mcp.module.js';
export { McpRegistry } from './mcp-server.registry.js';
