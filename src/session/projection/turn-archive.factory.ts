import { join } from 'node:path';
import { databaseKind } from '../../config/index.js';
import type { DatabaseConfig, SecurityConfig, SessionConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import { createRedisClient, type Database, sharePersistence } from '../../persistence/index.js';
import { CreateSession1764000000001 } from '../migrations/1764000000001-create-session.migration.js';
import { ExtendSession1764000000006 } from '../migrations/1764000000006-extend-session.migration.js';
import { CreateTurnFence1764000000017 } from '../migrations/1764000000017-create-turn-fence.migration.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { DatabaseTurnArchive } from './database-turn-archive.js';
import { FileTurnArchive } from './file-turn-archive.js';
import { RedisTurnArchive } from './redis-turn-archive.js';
import { LocalTurnArchive, type TurnArchive, type TurnSpan } from './turn-archive.js';

interface StoredSession {
  last: number;
  readonly turns: Map<number, StoredTurn>;
  readonly marks: Map<number, number>;
}

function nothing(): StoredSession {
  return { last: 0, turns: new Map(), marks: new Map() };
}

/** Turns in memory, lost when the process ends: for tests and trials. */
export class MemoryTurnArchive extends LocalTurnArchive {
  private readonly sessions = new Map<string, StoredSession>();

  protected async put(key: SessionKey, turn: StoredTurn): Promise<void> {
    const session = this.stored(key);
    this.sessions.set(nameOf(key), session);
    session.turns.set(turn.turn, turn);
    session.last = Math.max(session.last, turn.turn);
  }

  async get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    const session = this.stored(key);
    return turns.toSorted((a, b) => a - b).flatMap((turn) => session.turns.get(turn) ?? []);
  }

  async span(key: SessionKey): Promise<TurnSpan> {
    const { turns, last } = this.stored(key);
    const [first = 0] = turns.keys();
    return { first, last };
  }

  async marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    return this.stored(key).marks;
  }

  protected async setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    const { marks } = this.stored(key);
    if (mark === null) marks.delete(turn);
    else if (this.stored(key).turns.has(turn)) marks.set(turn, mark);
  }

  protected async remove(key: SessionKey, through: number): Promise<void> {
    const { turns, marks } = this.stored(key);
    for (const turn of turns.keys()) if (turn <= through) turns.delete(turn);
    for (const turn of marks.keys()) if (turn <= through) marks.delete(turn);
    if (turns.size === 0) this.sessions.delete(nameOf(key));
  }

  protected async drop(key: SessionKey, dropped: readonly number[]): Promise<void> {
    const { turns, marks } = this.stored(key);
    for (const turn of dropped) {
      turns.delete(turn);
      marks.delete(turn);
    }
  }

  async close(): Promise<void> {
    this.sessions.clear();
  }

  private stored(key: SessionKey): StoredSession {
    return this.sessions.get(nameOf(key)) ?? nothing();
  }
}

function nameOf({ tenant, id }: SessionKey): string {
  return JSON.stringify([tenant, id]);
}

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
