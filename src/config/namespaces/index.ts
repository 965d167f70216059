/** Namespaces of configuration: of each, the token of injection and the type of its value. */
export { type ApiKeyEntry, securityConfig, type SecurityConfig } from './security.config.js';
export { a2aConfig, type A2aConfig } from './a2a.config.js';
export { agentConfig, type AgentConfig } from './agent.config.js';
export { cacheConfig, type CacheConfig } from './cache.config.js';
export { databaseConfig, type DatabaseConfig } from './database.config.js';
export { definitionFilesConfig, type DefinitionFilesConfig } from './definition-files.config.js';
export { llmConfig, type LlmConfig } from './llm.config.js';
export { mcpConfig, type McpClientConfig } from './mcp.config.js';
export { compatibleApiConfig, type CompatibleApiConfig } from './compatible-api.config.js';
export { mcpServerConfig, type McpEndpointConfig } from './mcp-server.config.js';
export { runConfig, type RunConfig } from './run.config.js';
export { isLoopback, serverConfig, type ServerConfig } from './server.config.js';
export { sessionConfig, type SessionConfig } from './session.config.js';
export { telemetryConfig, type TelemetryConfig } from './telemetry.config.js';
export { toolConfig, type ToolConfig } from './tool.config.js';
export { toolStateConfig, type ToolStateConfig } from './tool-state.config.js';
export { webhookConfig, type WebhookConfig } from './webhook.config.js';
