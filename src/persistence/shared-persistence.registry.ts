import { AppError } from '../common/index.js';
import type { AppConfig } from '../config/index.js';
import { openPersistence } from './persistence.factory.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { parseServerUrl } from './server-url.parser.js';
import { sqlitePlace } from './sqlite.factory.js';

/** A database that only this process owns, shared by its applications. */
interface SharedDatabase {
  readonly config: AppConfig;
  readonly opened: Promise<OpenPersistence>;
  users: number;
  /** Set when the last application has left. */
  closing: Promise<void> | null;
}

/** The location of a database that one process owns. */
interface Place {
  readonly key: string;
  /** For messages. */
  readonly name: string;
}

/**
 * Settings that affect data in the database: all applications that share it must have the same ones. Messages contain
 * the variables, never the values.
 */
const COMMON_SETTINGS: readonly (readonly [variables: string, pick: (config: AppConfig) => unknown])[] = [
  ['REDIS_URL', ({ redis }) => redis],
  ['ENCRYPTION_KEYS or ENCRYPTION_STRICT', ({ encryption }) => encryption],
  ['SESSION_STORE or SESSION_TTL_SECONDS', ({ session }) => session],
  ['RUN_RETENTION_DAYS, RUN_RETENTION_FAILED_DAYS or USAGE_RETENTION_DAYS', ({ retention }) => retention],
  ['ACCESS_LOG_RETENTION_DAYS', ({ accessLog }) => accessLog.keptDays],
];

/** The open databases of this process: the store that its applications share (several `createAgent`, several Nest applications). */
const DATABASES = new Map<string, SharedDatabase>();

/**
 * As `openPersistence`. A database that one process owns (a SQLite file, MariaDB without Redis) is opened once per
 * process and shared by its applications. It is closed when the last of them closes its own.
 * @throws AppError `DATABASE_LOCKED` also when an application of this process uses it with other settings
 */
export async function sharePersistence(config: AppConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const place = placeOf(config);
  if (place === null) return openPersistence(config, options);
  for (;;) {
    const known = DATABASES.get(place.key);
    if (!known) return openShared(place, config, options);
    if (known.closing) await known.closing;
    else return join(known, place, config);
  }
}

async function openShared(place: Place, config: AppConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const opened = openPersistence(config, options);
  const shared: SharedDatabase = { config, opened, users: 1, closing: null };
  DATABASES.set(place.key, shared);
  try {
    return useOf(shared, place, await opened);
  } catch (error) {
    DATABASES.delete(place.key);
    throw error;
  }
}

async function join(shared: SharedDatabase, place: Place, config: AppConfig): Promise<OpenPersistence> {
  const different = COMMON_SETTINGS.filter(([, pick]) => !isSame(pick(config), pick(shared.config)));
  if (different.length > 0) throw usedDifferently(place, different.map(([variables]) => variables).join('; '));
  shared.users++;
  // If opening fails, `openShared` removes the entry: the count needs no correction.
  const opened = await shared.opened;
  // The first application has reported the warnings.
  return { ...useOf(shared, place, opened), warnings: [] };
}

/** The database from the view of one application. */
function useOf(shared: SharedDatabase, { key }: Place, opened: OpenPersistence): OpenPersistence {
  let closed: Promise<void> | null = null;
  const leave = async () => {
    shared.users--;
    if (shared.users > 0) return;
    const closing = opened.close();
    shared.closing = closing.catch(() => undefined).finally(() => DATABASES.delete(key));
    await closing;
  };
  return { ...opened, close: () => (closed ??= leave()) };
}

/** @returns `null` for a database that many processes share, and for one in memory */
function placeOf(config: AppConfig): Place | null {
  switch (config.database.kind) {
    case 'sqlite': {
      const file = sqlitePlace(config);
      return file === null ? null : { key: `sqlite ${file}`, name: file };
    }
    case 'mariadb': {
      if (config.redis.url !== undefined) return null;
      const { name } = parseServerUrl(config, 3306);
      return { key: `mariadb ${name}`, name };
    }
    case 'postgres':
      return null;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function usedDifferently({ name }: Place, variables: string): AppError {
  return new AppError(
    'DATABASE_LOCKED',
    `The database ${name} is already open in this process, in an application that is configured differently: ${variables}. Applications of one process share a database only if these settings are the same. Write the same values for both (\`env\` of createAgent, \`config\` of JackdawModule.forRoot), give one of them its own database (\`{ DATA_DIR: '…' }\`), or close the other one first.`,
  );
}
