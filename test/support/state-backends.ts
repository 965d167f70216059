import { type LoadedConfig, loadConfig } from '../../src/config/index.js';
import type { Database } from '../../src/persistence/index.js';
import { PLAIN_CIPHER } from '../../src/security/encryption/index.js';
import { ContextClosings } from '../../src/tool-state/context-closings.js';
import { StateBackendRegistry } from '../../src/tool-state/state-backend.registry.js';

interface BackendParts {
  readonly config?: Pick<LoadedConfig['config'], 'toolState' | 'database'>;
  /** Without a database only in-memory managers are available. */
  readonly database?: Database;
  readonly closings?: ContextClosings;
}

/** The parameters of a registry of backends without an application. */
export function backendParts(parts: BackendParts = {}): ConstructorParameters<typeof StateBackendRegistry> {
  const { config = loadConfig({ env: {} }).config, database = null, closings = new ContextClosings() } = parts;
  return [config.toolState, config.database, database, PLAIN_CIPHER, closings, new Map()];
}

export function stateBackends(parts?: BackendParts): StateBackendRegistry {
  return new StateBackendRegistry(...backendParts(parts));
}
