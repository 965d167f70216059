import { existsSync, stat, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataSource, EntitySchema } from 'typeorm';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { measureFsync } from './fsync.indicator.js';
import { initialiseDataSource } from './initialise-data-source.js';
import { migrate, MIGRATIONS, NO_MIGRATION_LOCK } from './migration.executor.js';
import { toOpenFailure } from './open-failure.error.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { checkSqliteFile } from './sqlite-check.executor.js';
import { SqliteDatabase } from './sqlite-database.js';
import { loadSqliteDriver, PAGE_BYTES, type SqliteHandle } from './sqlite-handle.js';
import { ownSqliteFile } from './sqlite-lock.factory.js';
import { SqliteLog, syncerOf } from './sqlite-log.client.js';
import { MEMORY, sidecarOf, sqliteFile, sqlitePlace } from './sqlite-place.js';
import { purgeIfPending } from './sqlite-purge.executor.js';

const CHECK_MS = 1_000;
const GONE = ['ENOENT', 'ENOTDIR'];

/**
 * Calls `onLoss` when the file of an open database was removed or replaced: SQLite would write on into the removed file.
 * @returns a function that ends the check
 */
export function watchPresence(file: string, onLoss: () => void): () => void {
  const { ino } = statSync(file, { bigint: true });
  const timer = setInterval(() => {
    stat(file, { bigint: true }, (error, found) => {
      const isLost = error ? GONE.includes(error.code ?? '') : found.ino !== ino;
      if (!isLost) return;
      clearInterval(timer);
      onLoss();
    });
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}

const UNLOCKED = { file: MEMORY, unlock: () => {} };
/** Wait of the start for another process's write (a shell, a backup), in ms; it blocks the event loop. */
const BUSY_TIMEOUT_MS = 250;
const SLOW_FSYNC_MS = 2;

/**
 * Opens the database, takes its lock and migrates the schema.
 * @throws AppError `DATABASE_LOCKED` when another process owns the file, `CONFIG_INVALID` when it cannot be opened
 */
export async function openSqlite(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const name = sqliteFile(config);
  const lock = name === MEMORY ? UNLOCKED : await takeLock(config, name);
  let handle: SqliteHandle | undefined;
  try {
    const unchecked = isSuspect(lock.file) ? await checkSqliteFile(lock.file) : null;
    const dataSource = await openDataSource(lock.file, options, (created) => (handle = created));
    const { databaseConnection } = dataSource.driver as unknown as { databaseConnection: SqliteHandle };
    const fsyncMs = name === MEMORY ? 0 : measureFsync(dirname(name));
    const purged = purgeIfPending(databaseConnection);
    // Without fsync SQLite makes each commit durable itself.
    const log = fsyncMs === null ? null : SqliteLog.of(databaseConnection, syncerOf(fsyncMs));
    // From here on the database itself waits for locks, beside the event loop.
    databaseConnection.pragma('busy_timeout = 0');
    const database = new SqliteDatabase(databaseConnection, log, config.timeoutMs);
    const endWatch = name === MEMORY ? () => undefined : watchPresence(lock.file, () => database.lose());
    const close = async () => {
      endWatch();
      await database.close();
      await dataSource.destroy();
      lock.unlock();
    };
    return {
      database,
      dataSource,
      notifications: null,
      warnings: [...warningsOf(name, fsyncMs ?? 0), ...[purged, unchecked].filter((line) => line !== null)],
      close,
    };
  } catch (error) {
    handle?.close();
    lock.unlock();
    throw toOpenFailure(name, error);
  }
}

async function takeLock(config: DatabaseConfig, name: string): Promise<typeof UNLOCKED> {
  const file = sqlitePlace(config)!;
  try {
    return { file, unlock: await ownSqliteFile(file) };
  } catch (error) {
    throw toOpenFailure(name, error);
  }
}

/**
 * Whether the last process did not close the database, which removes the log; or whether the file comes from elsewhere: a
 * copy of a file in use may be torn.
 */
function isSuspect(file: string): boolean {
  if ([`${file}-wal`, `${file}-journal`].some((log) => sizeOf(log) > 0)) return true;
  return sizeOf(file) > 0 && !existsSync(sidecarOf(file));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** @param created receives the handle, also of a database that then fails to open: TypeORM leaves it open */
async function openDataSource(
  file: string,
  options: PersistenceOptions,
  created: (handle: SqliteHandle) => void,
): Promise<DataSource> {
  const { entities, migrations } = options;
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    driver: loadSqliteDriver(),
    database: file,
    timeout: BUSY_TIMEOUT_MS,
    entities: entities.map((entity) => new EntitySchema(entity)),
    migrations: [...migrations],
    migrationsTableName: MIGRATIONS,
    prepareDatabase: (handle: SqliteHandle) => {
      created(handle);
      // Of a new file; without effect on an existing one.
      handle.pragma(`page_size = ${PAGE_BYTES}`);
      handle.pragma('journal_mode = WAL');
      handle.pragma('synchronous = FULL');
      handle.pragma('temp_store = MEMORY');
      // Overwrites deleted data, which would remain readable in the file until its space is reused.
      handle.pragma('secure_delete = ON');
      // In pages, 16 MB: tables grow at their end, so a page is written back once for many commits.
      handle.pragma('wal_autocheckpoint = 2000');
    },
  });
  await initialiseDataSource(dataSource);
  await migrate(dataSource, NO_MIGRATION_LOCK, {
    name: `The SQLite file ${file}`,
    remedy: 'name another file in DATABASE_URL',
    options,
  });
  return dataSource;
}

function warningsOf(file: string, fsyncMs: number): string[] {
  if (fsyncMs <= SLOW_FSYNC_MS) return [];
  return [
    `The disk of ${file} takes ${fsyncMs.toFixed(1)} ms to make a write durable; every step of a run waits for it.`,
  ];
}
