import { join } from 'node:path';
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import type { AppConfig } from '../config/index.js';
import { toOpenFailure } from './open-failure.error.js';
import { prepareSqliteFile } from './sqlite-file.factory.js';
import { lockSqliteFile } from './sqlite-lock.factory.js';
import type { SqliteHandle } from './sqlite-handle.types.js';

/** What the modules bring into the one schema; explicit classes, in the order of their migrations' timestamps. */
export interface PersistenceOptions {
  readonly entities: readonly (Function | EntitySchema)[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

export interface OpenDataSource {
  readonly dataSource: DataSource;
  /** Gives the file back to other processes; call it after the data source is closed. */
  unlock(): void;
}

const MEMORY = ':memory:';
const UNLOCKED = { file: MEMORY, unlock: () => {} };
/** How long a write waits for another process's, a shell's or a backup's; nothing else happens meanwhile. */
const BUSY_TIMEOUT_MS = 250;

/** The file of `DATABASE_URL`, by default `jackdaw.db` in the data folder. */
export function sqliteFile(config: AppConfig): string {
  const { url } = config.database;
  return url ? url.replace(/^sqlite:(\/\/(?=\/|\.))?/, '') : join(config.dataDir, 'jackdaw.db');
}

/**
 * Opens the database, takes its lock and brings the schema up to date.
 * @throws AppError `DATABASE_LOCKED` when another process owns the file, `CONFIG_INVALID` when it cannot be opened
 */
export async function openDataSource(config: AppConfig, options: PersistenceOptions): Promise<OpenDataSource> {
  const name = sqliteFile(config);
  const lock = name === MEMORY ? UNLOCKED : takeLock(name);
  try {
    const dataSource = createDataSource(lock.file, options);
    await dataSource.initialize();
    return { dataSource, unlock: lock.unlock };
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

function createDataSource(file: string, { entities, migrations }: PersistenceOptions): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    database: file,
    timeout: BUSY_TIMEOUT_MS,
    entities: [...entities],
    migrations: [...migrations],
    migrationsRun: true,
    prepareDatabase: (handle: SqliteHandle) => {
      handle.pragma('journal_mode = WAL');
      handle.pragma('synchronous = FULL');
      handle.pragma('temp_store = MEMORY');
      // In pages, 16 MB: tables grow at their end, so a page is written back once for many commits.
      handle.pragma('wal_autocheckpoint = 4000');
    },
  });
}
