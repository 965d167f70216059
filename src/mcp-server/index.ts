/** Jackdaw as an MCP server: tools, agents, sessions and runs for clients of the Model Context Protocol. */
export { askClient } from './input-question.mapper.js';
export type { McpClient } from './mcp-call.types.js';
export { McpClients } from './mcp-client.registry.js';
export { MCP_PATH } from './mcp-endpoint.controller.js';
export { mcpContent } from './tool-answer.mapper.js';
export { McpEndpoint } from './mcp-endpoint.service.js';
export { McpPrompts } from './mcp-prompt.registry.js';
export type { McpPrompt, McpPromptCall, McpPromptText } from './mcp-prompt.registry.js';
export type { McpContentBlock, McpPromptMessage, McpRequest, McpRequests } from './mcp-protocol.types.js';
export { McpResources } from './mcp-resource.registry.js';
export type { McpResource, McpResourceContent } from './mcp-resource.registry.js';
export { answerFault } from './route-fault.mapper.js';
export { MCP_ROUTES, McpEndpointModule, McpServerModule } from './mcp-server.module.js';
export type { McpClientCapabilities } from './mcp-protocol.types.js';
export type { McpLogLevel } from './mcp-protocol.types.js';
