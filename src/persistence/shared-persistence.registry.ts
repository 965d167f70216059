import { AppError } from '../errors/index.js';
import type { DatabaseConfig } from '../config/index.js';
import { isLocked } from './database-ownership.js';
import { openOwned } from './owned-persistence.factory.js';
import { openPersistence } from './persistence.factory.js';
import type { PersistenceOptions, UsedPersistence } from './persistence.types.js';
import { parseServerUrl } from './server-url.parser.js';
import { sqlitePlace } from './sqlite-place.js';

/** A database that only this process owns, shared by its applications. */
interface SharedDatabase {
  readonly config: DatabaseConfig;
  readonly opened: Promise<UsedPersistence>;
  users: number;
  /** Set when the last application has left. */
  closing: Promise<void> | null;
}

/** The location of a database that one process owns. */
interface Place {
  readonly key: string;
  /** Its name in error messages. */
  readonly name: string;
}

/** The open databases of this process: the store that its applications share (several `createAgent`, several Nest applications). */
const DATABASES = new Map<string, SharedDatabase>();

/**
 * As `openPersistence`. A database that one process owns (a SQLite file, MariaDB without Redis) is opened once per
 * process and shared by its applications. It is closed when the last of them closes its own.
 * @throws AppError `DATABASE_LOCKED` also when an application of this process uses it with other settings
 */
export async function sharePersistence(config: DatabaseConfig, options: PersistenceOptions): Promise<UsedPersistence> {
  try {
    return await share(config, options);
  } catch (error) {
    throw named(error, config);
  }
}

const VARIABLE = /\b(?:DATA_DIR|DATABASE_URL|REDIS_URL)\b/g;

/** The error with the names by which the variables were set. A script prints its message, not its stack. */
function named(error: unknown, { variableNames: names }: DatabaseConfig): unknown {
  if (!(error instanceof AppError)) return error;
  const message = error.message.replaceAll(VARIABLE, (name) => names[name as keyof typeof names]);
  const renamed = message === error.message ? error : new AppError(error.code, message, error);
  if (isLocked(error)) renamed.stack = `${renamed.name}: ${message}`;
  return renamed;
}

async function share(config: DatabaseConfig, options: PersistenceOptions): Promise<UsedPersistence> {
  const place = placeOf(config);
  if (place === null) return openPersistence(config, options);
  for (;;) {
    const known = DATABASES.get(place.key);
    if (!known) return openShared(place, config, options);
    if (known.closing) await known.closing;
    else return join(known, place, config);
  }
}

async function openShared(place: Place, config: DatabaseConfig, options: PersistenceOptions): Promise<UsedPersistence> {
  const open = () => openPersistence(config, options).catch((error: unknown) => Promise.reject(named(error, config)));
  const opened = openOwned({ name: place.name, config, open });
  const shared: SharedDatabase = { config, opened, users: 1, closing: null };
  DATABASES.set(place.key, shared);
  try {
    return useOf(shared, place, await opened);
  } catch (error) {
    DATABASES.delete(place.key);
    throw error;
  }
}

async function join(shared: SharedDatabase, place: Place, config: DatabaseConfig): Promise<UsedPersistence> {
  const { sharedSettings: settings } = shared.config;
  const different = Object.entries(config.sharedSettings).filter(([name, value]) => !isSame(value, settings[name]));
  if (different.length > 0) throw usedDifferently(place, different.map(([name]) => name).join(', '));
  shared.users++;
  // If opening fails, `openShared` removes the entry: the count needs no correction.
  const opened = await shared.opened;
  // The first application has reported the warnings.
  return { ...useOf(shared, place, opened), warnings: [] };
}

/** The database from the view of one application. */
function useOf(shared: SharedDatabase, { key }: Place, opened: UsedPersistence): UsedPersistence {
  let closed: Promise<void> | null = null;
  const release = async () => {
    shared.users--;
    if (shared.users > 0) return;
    const closing = opened.close();
    shared.closing = closing.catch(() => undefined).finally(() => DATABASES.delete(key));
    await closing;
  };
  const endWaits = () => {
    if (shared.users === 1) opened.endWaits?.();
  };
  return { ...opened, endWaits, close: () => (closed ??= release()) };
}

/** @returns `null` for a database that many processes share, and for one in memory */
function placeOf(config: DatabaseConfig): Place | null {
  switch (config.kind) {
    case 'sqlite': {
      const file = sqlitePlace(config);
      return file === null ? null : { key: `sqlite ${file}`, name: file };
    }
    case 'mariadb': {
      if (config.redisUrl !== undefined) return null;
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
    `The database ${name} is already open in this process, in an application that is configured differently: ${variables}. Applications of one process share a database only if these settings are the same. Write the same values for both (\`config\` of createAgent and of JackdawModule.forRoot), give one of them its own database (\`{ DATA_DIR: '…' }\`), or close the other one first.`,
  );
}
