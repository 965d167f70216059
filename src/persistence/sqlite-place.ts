import { join } from 'node:path';
import type { DatabaseConfig } from '../config/index.js';
import { toOpenFailure } from './open-failure.error.js';
import { prepareSqliteFile } from './sqlite-file.factory.js';

/** SQLite's name of a database in memory. */
export const MEMORY = ':memory:';

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
