import { dirname, join } from 'node:path';
import { DataSource } from 'typeorm';
import type { DatabaseConfig } from '../config/index.js';
import { initialiseDataSource } from './initialise-data-source.js';
import { measureFsync } from './fsync.indicator.js';
import { migrate, NO_MIGRATION_LOCK } from './migration.executor.js';
import { toOpenFailure } from './open-failure.error.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { SqliteDatabase } from './sqlite-database.js';
import { SqliteLog, syncerOf } from './sqlite-log.client.js';
import { loadSqliteDriver } from './sqlite-driver.loader.js';
import { prepareSqliteFile } from './sqlite-file.factory.js';
import type { SqliteHandle } from './sqlite-handle.types.js';
import { purgeIfPending } from './sqlite-purge.executor.js';
import { lockSqliteFile } from './sqlite-lock.factory.js';

const MEMORY = ':memory:';
const UNLOCKED = { file: MEMORY, unlock: () => {} };
/** Wait for another process's write (a shell, a backup), in ms; it blocks the event loop. */
const BUSY_TIMEOUT_MS = 250;
const SLOW_FSYNC_MS = 2;

/** The file of `DATABASE_URL`; by default `jackdaw.db` in the data folder. */
export function sqliteFile({ url, dataDir }: DatabaseConfig): string {
  return url ? url.replace(/^sqlite:(\/\/(?=\/|\.))?/, '') : join(dataDir, 'jackdaw.db');
}

/**
 * The database file without symbolic links, created if it is missing; `null` for one in memory.
 * @throws AppError `CONFIG_INVALID` when it cannot be created
 */
export function sqlitePlace(config: DatabaseConfig): string | null {
  const name = sqliteFile(config);
  if (name === MEMORY) return null;
  try {
    return prepareSqliteFile(name);
  } catch (error) {
    throw toOpenFailure(name, error);
  }
}

/**
 * Opens the database, takes its lock and migrates the schema.
 * @throws AppError `DATABASE_LOCKED` when another process owns the file, `CONFIG_INVALID` when it cannot be opened
 */
export async function openSqlite(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const name = sqliteFile(config);
  const lock = name === MEMORY ? UNLOCKED : takeLock(name);
  try {
    const dataSource = await openDataSource(lock.file, options);
    const { databaseConnection } = dataSource.driver as unknown as { databaseConnection: SqliteHandle };
    const fsyncMs = name === MEMORY ? 0 : measureFsync(dirname(name));
    const database = new SqliteDatabase(databaseConnection, SqliteLog.of(databaseConnection, syncerOf(fsyncMs)));
    const purged = purgeIfPending(databaseConnection);
    const close = async () => {
      await database.close();
      await dataSource.destroy();
      lock.unlock();
    };
    return {
      database,
      dataSource,
      notifications: null,
      warnings: [...warningsOf(name, fsyncMs), ...(purged === null ? [] : [purged])],
      close,
    };
  } catch (error) {
    lock.unlock();
    throw toOpenFailure(name, error);
  }
}

function takeLock(name: string): typeof UNLOCKED {
  try {
    const file = prepareSqliteFile(name);
    return { file, unlock: lockSqliteFile(file) };
  } catch (error) {
    throw toOpenFailure(name, error);
  }
}

async function openDataSource(file: string, { entities, migrations }: PersistenceOptions): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    driver: loadSqliteDriver(),
    database: file,
    timeout: BUSY_TIMEOUT_MS,
    entities: [...entities],
    migrations: [...migrations],
    prepareDatabase: (handle: SqliteHandle) => {
      handle.pragma('journal_mode = WAL');
      handle.pragma('synchronous = FULL');
      handle.pragma('temp_store = MEMORY');
      // Overwrites deleted data, which would remain readable in the file until its space is reused.
      handle.pragma('secure_delete = ON');
      // In pages, 16 MB: tables grow at their end, so a page is written back once for many commits.
      handle.pragma('wal_autocheckpoint = 4000');
    },
  });
  await initialiseDataSource(dataSource);
  await migrate(dataSource, NO_MIGRATION_LOCK);
  return dataSource;
}

function warningsOf(file: string, fsyncMs: number): string[] {
  if (fsyncMs <= SLOW_FSYNC_MS) return [];
  return [
    `The disk of ${file} takes ${fsyncMs.toFixed(1)} ms to make a write durable; every step of a run waits for it.`,
  ];
}
