import { join } from 'node:path';
import { databaseKind, type DatabaseConfig, type SecurityConfig, type SessionConfig } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import { createRedisClient, sharePersistence, type Database } from '../../persistence/index.js';
import { CreateSession1764000000001 } from '../migrations/1764000000001-create-session.migration.js';
import { ExtendSession1764000000006 } from '../migrations/1764000000006-extend-session.migration.js';
import { CreateTurnFence1764000000017 } from '../migrations/1764000000017-create-turn-fence.migration.js';
import { DatabaseTurnArchive } from './database-turn-archive.js';
import { FileTurnArchive } from './file-turn-archive.js';
import { MemoryTurnArchive } from './memory-turn-archive.js';
import { RedisTurnArchive } from './redis-turn-archive.js';
import { LocalTurnArchive, type TurnArchive } from './turn-archive.js';

/** Token of the application's own turn archive; `null` without one. */
export const OWN_TURN_ARCHIVE = Symbol('OWN_TURN_ARCHIVE');

/** Time after which Redis removes the turns of an expired session, in s. */
const REDIS_MARGIN_SECONDS = 86_400;

/**
 * The application's own turn archive, or the configured one; `null` as `openTurnArchive`.
 * @throws AppError `CONFIG_INVALID` for an own archive, which receives plain text, with encryption at rest, and for an
 * archive of one process in a cluster
 */
export async function chooseTurnArchive(
  own: TurnArchive | null,
  { encryption }: SecurityConfig,
  ...configured: Parameters<typeof openTurnArchive>
): Promise<TurnArchive | null> {
  const [, { isShared }] = configured;
  if (!own) return openTurnArchive(...configured);
  if (encryption.keys.length > 0) {
    const message =
      'The option `sessionStore` stores messages unencrypted, and ENCRYPTION_KEYS is set: omit one of them.';
    throw new AppError('CONFIG_INVALID', message);
  }
  if (own instanceof LocalTurnArchive && isShared) {
    const message =
      'The option `sessionStore` is a LocalTurnArchive, which serves one process, and DATABASE_URL is shared by many: ' +
      'extend TurnArchive.';
    throw new AppError('CONFIG_INVALID', message);
  }
  return own;
}

/**
 * Opens the configured turn archive; `null` if turns are stored in the journal's database. Loads its dependencies on
 * demand.
 * @param journal applications of this process with the same journal share turns in files and in memory
 */
export async function openTurnArchive(
  { store, ttlSeconds }: SessionConfig,
  config: DatabaseConfig,
  journal: Database,
): Promise<TurnArchive | null> {
  switch (store.kind) {
    case 'own':
      return null;
    case 'memory':
      return journal.shared(MemoryTurnArchive, () => new MemoryTurnArchive());
    case 'file': {
      const open = () => new FileTurnArchive(join(config.dataDir, 'sessions'));
      return journal.shared(FileTurnArchive, open);
    }
    case 'redis':
      return openRedis(store.url, ttlSeconds);
    case 'database':
      return openDatabase(config, store.url);
  }
}

async function openRedis(url: string, ttlSeconds: number): Promise<RedisTurnArchive> {
  const redis = await createRedisClient(url);
  await redis.connect();
  // The session expires first, as a whole; Redis removes turns of sessions that no process deletes.
  return new RedisTurnArchive(redis, 'jackdaw:session:', ttlSeconds && ttlSeconds + REDIS_MARGIN_SECONDS);
}

async function openDatabase(config: DatabaseConfig, url: string): Promise<DatabaseTurnArchive> {
  const opened = await sharePersistence(
    { ...config, kind: databaseKind(url), url },
    {
      entities: [],
      migrations: [CreateSession1764000000001, ExtendSession1764000000006, CreateTurnFence1764000000017],
      isPart: true,
    },
  );
  return new DatabaseTurnArchive(opened.database, () => opened.close());
}
