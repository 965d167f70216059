/** Reads the environment, in this module only: variables become one validated, typed, frozen value per namespace. */
export { AppConfigModule, loadGiven } from './app-config.module.js';
export type { ApiKeyEntry } from './api-key.parser.js';
export type { BudgetLimit } from './budget.parser.js';
export { ConfiguredSecrets } from './configured-secrets.js';
export {
  isContinuousIntegration,
  loadConfig,
  processVariables,
  readClientTarget,
  readConfig,
} from './config.loader.js';
export type { ClientTarget, EnvRecord, LoadedConfig } from './config.loader.js';
export type { EncryptionKey } from './encryption-key.parser.js';
export { configVariables } from './env.schema.js';
export type { Configuration } from './env.schema.js';
export { keysIn } from './key-file.loader.js';
export type { ModelChoice } from './model-option.parser.js';
export { agentConfig, type AgentConfig } from './namespaces/agent.config.js';
export { cacheConfig, type CacheConfig } from './namespaces/cache.config.js';
export { databaseConfig, type DatabaseConfig } from './namespaces/database.config.js';
export { definitionFilesConfig, type DefinitionFilesConfig } from './namespaces/definition-files.config.js';
export { llmConfig, type LlmConfig } from './namespaces/llm.config.js';
export { mcpConfig, type McpClientConfig } from './namespaces/mcp.config.js';
export { compatibleApiConfig, type CompatibleApiConfig } from './namespaces/compatible-api.config.js';
export { mcpServerConfig, type McpEndpointConfig } from './namespaces/mcp-server.config.js';
export { runConfig, type RunConfig } from './namespaces/run.config.js';
export { securityConfig, type SecurityConfig } from './namespaces/security.config.js';
export { isLoopback, serverConfig, type ServerConfig } from './namespaces/server.config.js';
export { sessionConfig, type SessionConfig } from './namespaces/session.config.js';
export { telemetryConfig, type TelemetryConfig } from './namespaces/telemetry.config.js';
export { toolConfig, type ToolConfig } from './namespaces/tool.config.js';
export { toolStateConfig, type ToolStateConfig } from './namespaces/tool-state.config.js';
export { webhookConfig, type WebhookConfig } from './namespaces/webhook.config.js';
export type { OutgoingTarget } from './outgoing-target.parser.js';
export { hostName } from './variable-name.policy.js';
export { EFFORTS } from './models-file.loader.js';
export type { ModelPrice } from './price.parser.js';
export { providerEnv } from './provider.policy.js';
export type { ProviderAccess } from './provider.policy.js';
export { databaseKind } from './store-url.schema.js';
export type { DatabaseKind } from './store-url.schema.js';
