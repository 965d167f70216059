import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseConfig, ToolStateConfig } from '../../config/namespaces/index.js';
import { isDoneWithin } from '../../kernel/index.js';
import { createRedisClient, type Database, sharePersistence } from '../../persistence/index.js';
import type { StepCompanion } from '../../run/context/index.js';
import type { Cipher } from '../../security/encryption/index.js';
import type { StateManagerName } from '../../tool/stateful/index.js';
import type { ContextDraft } from '../context-draft.js';
import { contextIdOf } from '../context-id.factory.js';
import { CreateToolState1764000000015 } from '../migrations/1764000000015-create-tool-state.migration.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';
import { DatabaseStateStore } from './database-state-store.js';
import { ProjectedStateBackend, StateOutbox } from './projected-state-backend.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './state-backend.js';
import { StateCodec, type StateCodecOptions } from './state-codec.js';
import type { ContextWrite, StateStore } from './state-store.js';

/** Backend in the journal's database: the batch that records a step includes its change. */
export class JournalStateBackend extends StateBackend {
  readonly isVolatile = false;

  constructor(
    name: StateManagerName,
    override readonly store: DatabaseStateStore,
  ) {
    super(name, store);
  }

  companion(change: StateChange, policy: StatePolicy, draft: ContextDraft): StepCompanion {
    const contextId = contextIdOf(change.key);
    let write = draft.toWrite();
    return {
      statements: () => this.store.statements(write),
      reconsider: async () => {
        const again = await this.manager(policy).open(contextId, change);
        applyChange(again, change);
        write = again.toWrite();
      },
      committed: async () => undefined,
      alone: () => this.apply(change, policy, contextId),
    };
  }

  creating(write: ContextWrite): StatesCopy {
    return { statements: this.store.statements(write), ended: async () => undefined, undone: () => undefined };
  }

  protected removal(_tenant: string, contextIds: readonly string[]): StatesEnd {
    return { statements: contextIds.flatMap((id) => this.store.statementsToRemove(id)), ended: async () => undefined };
  }
}

/** Time limit of a Redis command, in ms. */
const REDIS_TIMEOUT_MS = 2_000;
/** Maximum wait for the first connection at start, in ms; commands before the connection fail immediately. */
const REDIS_CONNECT_MS = 2_000;

export interface RedisPlace {
  readonly url: string;
  /** Database number; overrides that of the URL. */
  readonly db?: number;
  /** Prefix of all keys, without the colon. */
  readonly prefix: string;
}

interface Means {
  readonly config: ToolStateConfig;
  readonly place: DatabaseConfig;
  readonly database: Database;
  readonly cipher: Cipher;
}

/** Opens the configured backend of a durable manager; loads its driver on demand. */
export async function openDurableBackend(name: StateManagerName, means: Means): Promise<StateBackend> {
  const { config, database, cipher } = means;
  const { isCompressed } = config;
  const store = await (name === 'persistent' ? openPersistent(means) : openShared(means));
  if (store) return openProjectedBackend(name, store, means);
  return new JournalStateBackend(name, new DatabaseStateStore(database, new StateCodec({ cipher, isCompressed })));
}

/** A backend for a store outside of the journal's database. */
export function openProjectedBackend(
  name: string,
  store: StateStore,
  { config, database, cipher }: Omit<Means, 'place'>,
): StateBackend {
  return new ProjectedStateBackend(name, store, new StateOutbox(database, cipher), config.sync.isOnChange);
}

/** `null` for the journal's database. */
async function openPersistent({ config, place, cipher }: Means): Promise<StateStore | null> {
  const { format, path, isCompressed } = config;
  if (path === null) return null;
  if (format === 'json') {
    const { FileStateStore } = await import('./file-state-store.js');
    return FileStateStore.open(path, { cipher, isCompressed });
  }
  await mkdir(path, { recursive: true, mode: 0o700 });
  return openSqliteStateStore(place, join(path, 'tool-states.sqlite'), { cipher, isCompressed });
}

async function openShared({ config, cipher }: Means): Promise<StateStore | null> {
  const { redis, isCompressed } = config;
  const { url, ...place } = redis;
  return url === undefined ? null : openRedisStateStore({ url, ...place }, { cipher, isCompressed });
}

/**
 * Opens a store of contexts in a separate SQLite file.
 * @throws AppError `DATABASE_LOCKED` if another process owns the file, `CONFIG_INVALID` if it cannot be opened
 */
export async function openSqliteStateStore(
  config: DatabaseConfig,
  file: string,
  options: StateCodecOptions = {},
): Promise<DatabaseStateStore> {
  const opened = await sharePersistence(
    { ...config, kind: 'sqlite', url: `sqlite:${file}` },
    {
      entities: [],
      migrations: [CreateToolState1764000000015],
      isPart: true,
    },
  );
  return new DatabaseStateStore(opened.database, new StateCodec(options), () => opened.close());
}

/** Opens a store of contexts in Redis. Redis may be unavailable now and connect later. */
export async function openRedisStateStore(
  { url, db, prefix }: RedisPlace,
  options: StateCodecOptions = {},
): Promise<StateStore> {
  const place = new URL(url);
  if (db !== undefined) place.pathname = `/${db}`;
  const [client, { RedisStateStore }] = await Promise.all([
    createRedisClient(place.href, REDIS_TIMEOUT_MS),
    import('./redis-state-store.js'),
  ]);
  await isDoneWithin(REDIS_CONNECT_MS, client.connect());
  return new RedisStateStore(client, `${prefix}:`, new StateCodec(options));
}
