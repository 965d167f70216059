import { isDoneWithin } from '../../../common/index.js';
import type { AppConfig } from '../../../config/index.js';
import { createRedisClient, sharePersistence } from '../../../persistence/index.js';
import { ToolStateChangeEntity } from '../entities/tool-state-change.entity.js';
import { ToolStateEntryEntity } from '../entities/tool-state-entry.entity.js';
import { ToolStateHistoryEntity } from '../entities/tool-state-history.entity.js';
import { ToolStateVersionEntity } from '../entities/tool-state-version.entity.js';
import { ToolStateEntity } from '../entities/tool-state.entity.js';
import { CreateToolState1764000000015 } from '../migrations/1764000000015-create-tool-state.migration.js';
import { DatabaseStateStore } from './database-state-store.js';
import { StateCodec, type StateCodecOptions } from './state-codec.mapper.js';
import type { StateStore } from './state-store.js';

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

/**
 * Opens a store of contexts in a separate SQLite file.
 * @throws AppError `DATABASE_LOCKED` if another process owns the file, `CONFIG_INVALID` if it cannot be opened
 */
export async function openSqliteStateStore(
  config: AppConfig,
  file: string,
  options: StateCodecOptions = {},
): Promise<DatabaseStateStore> {
  const opened = await sharePersistence(config.with({ database: { kind: 'sqlite', url: `sqlite:${file}` } }), {
    entities: [
      ToolStateEntity,
      ToolStateEntryEntity,
      ToolStateVersionEntity,
      ToolStateHistoryEntity,
      ToolStateChangeEntity,
    ],
    migrations: [CreateToolState1764000000015],
  });
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
