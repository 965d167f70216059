import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseConfig } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { toOpenFailure } from './open-failure.error.js';
import { prepareSqliteFile } from './sqlite-file.factory.js';
import { assertNotLost } from './sqlite-traces.policy.js';

/** SQLite's name of a database in memory. */
export const MEMORY = ':memory:';

/** The file of `DATABASE_URL`; by default `jackdaw.db` in the data folder. */
export function sqliteFile({ url, dataDir }: DatabaseConfig): string {
  return url ? url.replace(/^sqlite:(\/\/(?=\/|\.))?/, '') : join(dataDir, 'jackdaw.db');
}

/**
 * The database file without symbolic links, created if it is missing; `null` for one in memory.
 * @throws AppError `CONFIG_INVALID` when it cannot be created, was lost, or has a second name
 */
export function sqlitePlace(config: DatabaseConfig): string | null {
  const name = sqliteFile(config);
  if (name === MEMORY) return null;
  try {
    assertNotLost(name, config);
    const file = prepareSqliteFile(name);
    assertOneName(file);
    return file;
  } catch (error) {
    throw toOpenFailure(name, error);
  }
}

/** SQLite names its log after the file: under two names, two processes would use two logs and damage the data. */
function assertOneName(file: string): void {
  const { nlink } = statSync(file);
  if (nlink <= 1) return;
  throw new AppError(
    'CONFIG_INVALID',
    `The database ${file} has ${nlink} names (hard links). Under another name another process could open it and damage it: delete the other names (find them with \`find -samefile\`), or replace this file by a copy of it.`,
  );
}
