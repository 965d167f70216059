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

/** Longer than this nobody waits for Redis, in ms. */
const REDIS_TIMEOUT_MS = 2_000;
/** So long a start waits for its first connection, in ms: what is asked before fails at once. */
const REDIS_CONNECT_MS = 2_000;

export interface RedisPlace {
  readonly url: string;
  /** The number of the database, in place of the URL's. */
  readonly db?: number;
  /** What all keys begin with, before a colon. */
  readonly prefix: string;
}

/**
 * Contexts in a SQLite file of their own.
 * @throws AppError `DATABASE_LOCKED` when another process has it, `CONFIG_INVALID` when it cannot be opened
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

/** Contexts in Redis; one that is away now may be there later. */
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
