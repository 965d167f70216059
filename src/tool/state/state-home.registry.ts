import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { Database } from '../../persistence/index.js';
import { Cipher, PLAIN_CIPHER } from '../../security/index.js';
import { ContextClosings } from './context-closing.registry.js';
import { ContextQueue } from './context-queue.policy.js';
import type { StateHome } from './homes/state-home.js';
import { VolatileStateHome } from './homes/volatile-state-home.js';
import type { StatefulOptions, StateManagerName } from './stateful-options.types.js';
import { MemoryStateStore } from './stores/memory-state-store.js';
import type { StatePolicy } from './tool-state.types.js';

/**
 * Backends of the state managers, each opened at its first use; resolves a tool's options against the configuration.
 */
@Injectable()
export class StateHomeRegistry implements OnApplicationShutdown {
  private readonly homes = new Map<StateManagerName, Promise<StateHome>>();

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
  async of(name: StateManagerName): Promise<StateHome> {
    let home = this.homes.get(name);
    if (!home) {
      home = this.open(name).then((opened) => opened.telling(this.closings));
      this.homes.set(name, home);
      home.catch(() => this.homes.delete(name));
    }
    return home;
  }

  /** Backends that are open. */
  async opened(): Promise<StateHome[]> {
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

  private async open(name: StateManagerName): Promise<StateHome> {
    const { cluster } = this.config;
    const isOfProcess = name !== 'distributed';
    if (isOfProcess && cluster.isEnabled) throw ofOneProcess(name);
    switch (name) {
      case 'memory':
      case 'session':
        return new VolatileStateHome(name, new MemoryStateStore(), new ContextQueue());
      case 'persistent':
      case 'distributed': {
        if (!this.database) throw withoutDatabase(name);
        const { openDurableHome } = await import('./homes/durable-home.factory.js');
        return openDurableHome(name, { config: this.config, database: this.database, cipher: this.cipher });
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
