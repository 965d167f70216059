import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { Database } from '../../persistence/index.js';
import { Cipher, PLAIN_CIPHER } from '../../security/index.js';
import { ContextClosings } from './context-closing.registry.js';
import { ContextQueue } from './context-queue.policy.js';
import type { StateBackend } from './backend/state-backend.js';
import { VolatileStateBackend } from './backend/volatile-state-backend.js';
import type { StatefulOptions, StateManagerName } from './stateful-options.types.js';
import { MemoryStateStore } from './stores/memory-state-store.js';
import type { StatePolicy } from './tool-state.types.js';

/**
 * Backends of the state managers, each opened at its first use; resolves a tool's options against the configuration.
 */
@Injectable()
export class StateBackendRegistry implements OnApplicationShutdown {
  private readonly homes = new Map<StateManagerName, Promise<StateBackend>>();

  /**
   * @param database by default only in-memory managers are available
   * @param closings receive closed contexts
   */
  constructor(
    private readonly config: AppConfig,
    @Optional() private readonly database?: Database,
    @Optional() @Inject(Cipher) private readonly cipher: Cipher = PLAIN_CIPHER,
    @Optional() readonly closings: ContextClosings = new ContextClosings(),
  ) {}

  nameOf({ manager = this.config.toolState.manager }: StatefulOptions): StateManagerName {
    return manager;
  }

  /**
   * @throws AppError `TOOL_STATE_UNAVAILABLE` if the store is unavailable, `CONFIG_INVALID` for an impossible
   * configuration
   */
  async of(name: StateManagerName): Promise<StateBackend> {
    let home = this.homes.get(name);
    if (!home) {
      home = this.open(name).then((opened) => opened.telling(this.closings));
      this.homes.set(name, home);
      home.catch(() => this.homes.delete(name));
    }
    return home;
  }

  /** Backends that are open. */
  async opened(): Promise<StateBackend[]> {
    return Promise.all(this.homes.values());
  }

  policyOf(options: StatefulOptions): StatePolicy {
    const { toolState } = this.config;
    const isOfSession = this.nameOf(options) === 'session';
    return {
      ttlMs: options.ttlMs ?? toolState.ttlMs,
      idleMs: isOfSession ? toolState.sessionTimeoutMs : null,
      maxStateBytes: options.maxStateBytes ?? toolState.maxBytes,
      // A call has two entries.
      maxHistory: 2 * (options.maxHistory ?? toolState.maxHistory),
      maxVersions: options.maxVersions ?? toolState.maxVersions,
      maxContextsPerSession: isOfSession ? toolState.maxPerSession : null,
      conflict: options.conflict ?? toolState.conflict,
    };
  }

  isSavedAlone({ autoSave = this.config.toolState.isSavedAlone }: StatefulOptions): boolean {
    return autoSave;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled([...this.homes.values()].map(async (home) => (await home).store.close()));
  }

  private async open(name: StateManagerName): Promise<StateBackend> {
    const { cluster } = this.config;
    const isOfProcess = name !== 'distributed';
    if (isOfProcess && cluster.isEnabled) throw ofOneProcess(name);
    switch (name) {
      case 'memory':
      case 'session':
        return new VolatileStateBackend(name, new MemoryStateStore(), new ContextQueue());
      case 'persistent':
      case 'distributed': {
        if (!this.database) throw withoutDatabase(name);
        const { openDurableBackend } = await import('./backend/durable-backend.factory.js');
        return openDurableBackend(name, { config: this.config, database: this.database, cipher: this.cipher });
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
