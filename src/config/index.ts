/** Reads the environment, in this module only: variables become one validated, typed, frozen `AppConfig`. */
export { AppConfigModule, loadGiven } from './app-config.module.js';
export { AppConfig } from './app-config.types.js';
export type {
  ApiKeyEntry,
  AppConfigValues,
  BudgetLimit,
  DatabaseKind,
  EncryptionKey,
  LlmProvider,
  LogLevel,
  ModelChoice,
  ModelPrice,
  OutgoingTarget,
  ProviderAccess,
} from './app-config.types.js';
export { loadConfig, readConfig } from './config.loader.js';
export type { ConfigSources, EnvRecord, LoadedConfig } from './config.loader.js';
export { configVariables } from './env.schema.js';
export type { ConfigVariable } from './env.schema.js';
export { keysIn } from './key-file.loader.js';
export type { McpClientConfig, McpServersFile } from './mcp-config.types.js';
export { providerEnv } from './provider.policy.js';
export { isLoopback } from './loopback.policy.js';
export { databaseKind } from './store-url.schema.js';
export { MOST_STATE_BYTES } from './tool-state-env.schema.js';
