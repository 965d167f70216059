import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  databaseConfig,
  type DatabaseConfig,
  toolStateConfig,
  type ToolStateConfig,
} from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { Database } from '../persistence/index.js';
import type { StepCompanion } from '../run/context/index.js';
import { Cipher } from '../security/encryption/index.js';
import { isOwnStateManager, type StatefulOptions, type StateManagerName } from '../tool/stateful/index.js';
import { ContextIndex } from './backend/context-index.js';
import { applyWrite, type ContextRecord, historyOf } from './backend/context-record.js';
import { GuardedStateStore } from './backend/guarded-state-store.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './backend/state-backend.js';
import { type ContextWrite, StateStore, type StoredContext, type StoredVersion } from './backend/state-store.js';
import { ContextClosings } from './context-closings.js';
import { contextIdOf } from './context-id.factory.js';
import type { StateChange } from './state-change.mapper.js';
import type { ContextFilter, ContextKey, StateHistoryEntry, StatePolicy } from './tool-state.types.js';

/** Stores contexts in memory; they end with the process. */
export class MemoryStateStore extends StateStore {
  private readonly records = new Map<string, ContextRecord>();
  private readonly index = new ContextIndex();

  async load(id: string): Promise<StoredContext | null> {
    return this.records.get(id)?.context ?? null;
  }

  async keyOf(id: string): Promise<ContextKey | null> {
    return this.index.keyOf(id);
  }

  async write(write: ContextWrite): Promise<boolean> {
    const { id } = write.context;
    const { history } = write;
    const before = this.records.get(id) ?? null;
    // States are immutable texts; history details are the caller's objects and need a copy.
    const record = applyWrite(before, history.length > 0 ? { ...write, history: structuredClone(history) } : write);
    if (!record) return false;
    if (!before) this.records.set(id, record);
    this.index.put(write.context);
    return true;
  }

  async versions(id: string): Promise<StoredVersion[]> {
    return this.records.get(id)?.versions.toReversed() ?? [];
  }

  async history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const record = this.records.get(id);
    return record ? structuredClone(historyOf(record, limit, before)) : [];
  }

  async remove(id: string, revision?: number): Promise<boolean> {
    const record = this.records.get(id);
    if (!record || (revision !== undefined && record.context.revision !== revision)) return false;
    this.index.remove(id);
    return this.records.delete(id);
  }

  async list(filter: ContextFilter): Promise<string[]> {
    return this.index.list(filter, Date.now());
  }

  async expired(now: number, limit: number): Promise<string[]> {
    return this.index.expired(now, limit);
  }

  async tenants(): Promise<string[]> {
    return this.index.tenants();
  }

  async close(): Promise<void> {}
}

/** Backend in memory: changes are applied after their step is durable. */
export class VolatileStateBackend extends StateBackend {
  readonly isVolatile = true;
  /** Contexts to create after the commit of their batch. */
  private readonly coming = new Map<string, ContextWrite>();

  companion(change: StateChange, policy: StatePolicy): StepCompanion {
    const contextId = contextIdOf(change.key);
    return {
      statements: () => [],
      reconsider: async () => undefined,
      committed: () => this.applyRecorded(change, policy, contextId),
      alone: () => this.apply(change, policy, contextId),
    };
  }

  override async catchUp(contextId: string): Promise<void> {
    const write = this.coming.get(contextId);
    if (write && this.coming.delete(contextId)) await this.store.write(write);
  }

  creating(write: ContextWrite): StatesCopy {
    const { id } = write.context;
    this.coming.set(id, write);
    return { statements: [], ended: () => this.catchUp(id), undone: () => void this.coming.delete(id) };
  }

  protected removal(_tenant: string, contextIds: readonly string[]): StatesEnd {
    return {
      statements: [],
      ended: async () => {
        for (const id of contextIds) await this.store.remove(id);
      },
    };
  }
}

/** Token of the application's own stores of states, by the name of their manager. */
export const OWN_STATE_STORES = Symbol('OWN_STATE_STORES');

/**
 * Backends of the state managers, each opened at its first use; resolves a tool's options against the configuration.
 */
@Injectable()
export class StateBackendRegistry implements OnApplicationShutdown {
  private readonly backends = new Map<StateManagerName, Promise<StateBackend>>();
  /** Names of the application's own managers. */
  readonly ownManagers: ReadonlySet<string>;

  /**
   * @param database `null` outside of an application: only in-memory managers are available
   * @param closings receive closed contexts
   * @param own stores of the application's own managers
   * @throws AppError `CONFIG_INVALID` for an impossible own manager
   */
  constructor(
    @Inject(toolStateConfig.KEY) private readonly config: ToolStateConfig,
    @Inject(databaseConfig.KEY) private readonly place: DatabaseConfig,
    @Inject(Database) private readonly database: Database | null,
    private readonly cipher: Cipher,
    readonly closings: ContextClosings,
    @Inject(OWN_STATE_STORES) private readonly own: ReadonlyMap<string, StateStore>,
  ) {
    this.ownManagers = new Set(own.keys());
    for (const name of this.ownManagers) this.assertOwn(name);
  }

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
    const unused = [...this.own].filter(([name]) => !this.backends.has(name));
    await Promise.allSettled([
      ...[...this.backends.values()].map(async (backend) => (await backend).store.close()),
      ...unused.map(async ([, store]) => store.close()),
    ]);
  }

  private async open(name: StateManagerName): Promise<StateBackend> {
    const { config, place, database, cipher } = this;
    const own = this.own.get(name);
    if (own) return this.openOwn(name, own);
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
      default:
        throw new AppError(
          'CONFIG_INVALID',
          `There is no state manager "${name}": add it to the option stateManagers.`,
        );
    }
  }

  private async openOwn(name: string, store: StateStore): Promise<StateBackend> {
    if (!this.database) throw withoutDatabase(name);
    const { openProjectedBackend } = await import('./backend/durable-backend.factory.js');
    const { config, database, cipher } = this;
    return openProjectedBackend(name, new GuardedStateStore(name, store), { config, database, cipher });
  }

  private assertOwn(name: string): void {
    if (!isOwnStateManager(name)) {
      throw new AppError(
        'CONFIG_INVALID',
        `stateManagers.${name}: Jackdaw has a manager of this name; use another name.`,
      );
    }
    if (this.cipher.head === null) return;
    const message = `stateManagers.${name} stores states unencrypted, and ENCRYPTION_KEYS is set: omit one of them.`;
    throw new AppError('CONFIG_INVALID', message);
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
