import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import type { AppConfig } from '../config/index.js';
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

/** The file of `DATABASE_URL`, by default `jackdaw.db` in the data folder. */
export function sqliteFile(config: AppConfig): string {
  const { url } = config.database;
  return url ? url.replace(/^sqlite:(\/\/(?=\/|\.))?/, '') : join(config.dataDir, 'jackdaw.db');
}

/**
 * Opens the database, takes its lock and brings the schema up to date.
 * @throws AppError `DATABASE_LOCKED` when another process owns the file
 */
export async function openDataSource(config: AppConfig, options: PersistenceOptions): Promise<OpenDataSource> {
  const file = sqliteFile(config);
  if (file !== MEMORY) await mkdir(dirname(file), { recursive: true });
  const unlock = file === MEMORY ? () => undefined : lockSqliteFile(file);
  const dataSource = new DataSource({
    type: 'better-sqlite3',
    database: file,
    entities: [...options.entities],
    migrations: [...options.migrations],
    migrationsRun: true,
    prepareDatabase: (handle: SqliteHandle) => {
      handle.pragma('journal_mode = WAL');
      handle.pragma('synchronous = FULL');
      handle.pragma('temp_store = MEMORY');
    },
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    unlock();
    throw error;
  }
  return { dataSource, unlock };
}
