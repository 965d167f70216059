import type { DatabaseConfig } from '../config/namespaces/index.js';
import { AppError, Log } from '../errors/index.js';
import { holdProcess } from '../kernel/index.js';
import { AwaitedDatabase } from './awaited-database.js';
import { loadOrigin } from './database-origin.loader.js';
import { DatabaseOwnership, isLocked } from './database-ownership.js';
import { useDatabase } from './database-use.registry.js';
import { CreateStorageProbe1764000000030 } from './migrations/1764000000030-create-storage-probe.migration.js';
import type { OpenPersistence, PersistenceOptions, UsedPersistence } from './persistence.types.js';
import { parseServerUrl } from './server-url.parser.js';
import { sqlitePlace } from './sqlite-place.js';

/** A database of one process. */
interface OwnedPlace {
  /** Its name in messages. */
  readonly name: string;
  readonly config: DatabaseConfig;
  /** Fails with `DATABASE_LOCKED` while another process owns the database. */
  readonly open: () => Promise<OpenPersistence>;
}

const logger = new Log('Database');

/**
 * Opens a database of one process, by the rule `whenLocked` if another process owns it: `fail` fails, `wait` waits until
 * that process has had time to end, and `defer` returns a database whose calls wait or fail.
 * @throws AppError `DATABASE_LOCKED`
 */
async function openOwned(place: OwnedPlace): Promise<UsedPersistence> {
  const ownership = new DatabaseOwnership(place.open);
  try {
    return await ownership.opened(0);
  } catch (error) {
    const { whenLocked } = place.config;
    if (!isLocked(error) || whenLocked === 'fail') throw error;
    return whenLocked === 'wait' ? awaitOwner(place, ownership) : defer(place, ownership, error);
  }
}

async function awaitOwner(
  { name, config: { stopLimitMs } }: OwnedPlace,
  ownership: DatabaseOwnership,
): Promise<OpenPersistence> {
  logger.warn(`Waiting for the database ${name}: another process owns it (at most ${stopLimitMs / 1000} s)`);
  // The application's log does not exist yet, and the line is of use only during the wait.
  Log.flush();
  return holdProcess(ownership.opened(stopLimitMs));
}

function defer({ name, config }: OwnedPlace, ownership: DatabaseOwnership, locked: AppError): UsedPersistence {
  logger.warn(
    `The database ${name} belongs to another running Jackdaw. Until that one stops, calls of Jackdaw fail with ${locked.code}`,
  );
  const database = new AwaitedDatabase(config.kind, config.kind === 'sqlite', ownership);
  void database.onceOpen(async () => {
    logger.log(`The database ${name} is free: this process owns it now`);
    for (const warning of (await ownership.opened(0)).warnings) logger.warn(warning);
  });
  // An owner that is being replaced ends soon. Later only calls try again.
  void database.becomeOwner(config.stopLimitMs).catch(() => undefined);
  const startStop = () => ownership.endWaits();
  return { database, notifications: null, warnings: [], startStop, close: () => database.close() };
}

/**
 * Opens the configured database and migrates its schema.
 * @throws AppError `CONFIG_INVALID` when it cannot be used, `DATABASE_LOCKED` when another process owns it
 */
export async function openPersistence(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const migrations = [...options.migrations, CreateStorageProbe1764000000030];
  const opened = await openKind(config, { migrates: config.migrates, ...options, migrations });
  try {
    const origin = await loadOrigin(opened.database);
    if (options.isPart) await origin.adopt();
    opened.database.useDataSource(opened.dataSource, origin);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** TypeORM and the drivers are loaded here: the import of the package is 0.1 s shorter without them. */
async function openKind(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  switch (config.kind) {
    case 'sqlite':
      return (await import('./sqlite.factory.js')).openSqlite(config, options);
    case 'postgres':
      return (await import('./postgres.factory.js')).openPostgres(config, options);
    case 'mariadb':
      return (await import('./mariadb.factory.js')).openMariadb(config, options);
  }
}

/** A database that only this process owns, shared by its applications. */
interface SharedDatabase {
  readonly config: DatabaseConfig;
  readonly opened: Promise<UsedPersistence>;
  users: number;
  /** Set when the last application has left. */
  closing: Promise<void> | null;
}

/** The location of a database. */
interface Place {
  readonly key: string;
  /** Whether only one process can use it. */
  readonly isOwned: boolean;
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

const VARIABLE = /\b(?:DATA_DIR|DATABASE_URL|REDIS_URL|ALLOW_NEW_DATABASE|MIGRATE)\b/g;

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
  const use = await useDatabase(place.key, place.name);
  try {
    const opened = await (place.isOwned ? shareOwned(place, config, options) : openPersistence(config, options));
    const startStop = () => {
      use.stop(config.stopLimitMs);
      opened.startStop?.();
    };
    return { ...opened, startStop, close: () => opened.close().finally(() => use.end()) };
  } catch (error) {
    use.end();
    throw error;
  }
}

async function shareOwned(place: Place, config: DatabaseConfig, options: PersistenceOptions): Promise<UsedPersistence> {
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
  const startStop = () => {
    if (shared.users === 1) opened.startStop?.();
  };
  return { ...opened, startStop, close: () => (closed ??= release()) };
}

/** @returns `null` for a database in memory */
function placeOf(config: DatabaseConfig): Place | null {
  switch (config.kind) {
    case 'sqlite': {
      const file = sqlitePlace(config);
      return file === null ? null : { key: `sqlite ${file}`, name: file, isOwned: true };
    }
    case 'mariadb': {
      const { name } = parseServerUrl(config, 3306);
      return { key: `mariadb ${name}`, name, isOwned: config.redisUrl === undefined };
    }
    case 'postgres': {
      const { name } = parseServerUrl(config, 5432);
      return { key: `postgres ${name} ${config.schema ?? ''}`, name, isOwned: false };
    }
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
