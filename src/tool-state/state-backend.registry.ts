import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { databaseConfig, type DatabaseConfig, toolStateConfig, type ToolStateConfig } from '../config/index.js';
import { Database } from '../persistence/index.js';
import { Cipher } from '../security/index.js';
import { ContextClosings } from './context-closings.js';
import type { StateBackend } from './backend/state-backend.js';
import { VolatileStateBackend } from './backend/volatile-state-backend.js';
import type { StatefulOptions, StateManagerName } from '../tool/index.js';
import { MemoryStateStore } from './backend/memory-state-store.js';
import type { StatePolicy } from './tool-state.types.js';

/**
 * Backends of the state managers, each opened at its first use; resolves a tool's options against the configuration.
 */
@Injectable()
export class StateBackendRegistry implements OnApplicationShutdown {
  private readonly backends = new Map<StateManagerName, Promise<StateBackend>>();

  /**
   * @param database `null` outside of an application: only in-memory managers are available
   * @param closings receive closed contexts
   */
  constructor(
    @Inject(toolStateConfig.KEY) private readonly config: ToolStateConfig,
    @Inject(databaseConfig.KEY) private readonly place: DatabaseConfig,
    @Inject(Database) private readonly database: Database | null,
    private readonly cipher: Cipher,
    readonly closings: ContextClosings,
  ) {}

  nameOf({ manager = this.config.manager }: StatefulOptions): StateManagerName {
    return manager;
  }

  /**
   * @throws AppError `TOOL_STATE_UNAVAILABLE` if the store is unavailable, `CONFIG_INVALID` for an impossible
   * configuration
   */
  async of(name: StateManagerName): Promise<StateBackend> {
    let backend = this.backends.get(name);
    if (!backend) {
      backend = this.open(name).then((opened) => opened.notifying(this.closings));
      this.backends.set(name, backend);
      backend.catch(() => this.backends.delete(name));
    }
    return backend;
  }

  /** Backends that are open. */
  async opened(): Promise<StateBackend[]> {
    return Promise.all(this.backends.values());
  }

  policyOf(options: StatefulOptions): StatePolicy {
    const { config } = this;
    const isOfSession = this.nameOf(options) === 'session';
    return {
      ttlMs: options.ttlMs ?? config.ttlMs,
      idleMs: isOfSession ? config.sessionTimeoutMs : null,
      maxStateBytes: options.maxStateBytes ?? config.maxBytes,
      // A call has two entries.
      maxHistory: 2 * (options.maxHistory ?? config.maxHistory),
      maxVersions: options.maxVersions ?? config.maxVersions,
      maxContextsPerSession: isOfSession ? config.maxPerSession : null,
      conflict: options.conflict ?? config.conflict,
    };
  }

  isSavedAlone({ autoSave = this.config.isSavedAlone }: StatefulOptions): boolean {
    return autoSave;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.backends.values()].map(async (backend) => (await backend).store.close()));
  }

  private async open(name: StateManagerName): Promise<StateBackend> {
    const { config, place, database, cipher } = this;
    const isOfProcess = name !== 'distributed';
    if (isOfProcess && place.isShared) throw ofOneProcess(name);
    switch (name) {
      case 'memory':
      case 'session':
        return new VolatileStateBackend(name, new MemoryStateStore());
      case 'persistent':
      case 'distributed': {
        if (!database) throw withoutDatabase(name);
        const { openDurableBackend } = await import('./backend/durable-backend.factory.js');
        return openDurableBackend(name, { config, place, database, cipher });
      }
    }
  }
}

function ofOneProcess(name: string): AppError {
  return new AppError(
    'CONFIG_INVALID',
    `The state manager \`${name}\` is of one process, and DATABASE_URL is shared by many: use \`distributed\`.`,
  );
}

function withoutDatabase(name: string): AppError {
  return new AppError('CONFIG_INVALID', `The state manager \`${name}\` needs a database, but none is configured.`);
}
