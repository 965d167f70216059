import { createRequire } from 'node:module';
import { AppError } from '../common/index.js';
import { makePrivateFile } from './sqlite-file.factory.js';
import type { SqliteHandle } from './sqlite-handle.types.js';

/**
 * Takes the one process-wide right to a database file: an exclusive transaction on a small file beside it, whose
 * lock the operating system drops even after kill -9. Others may still read the database itself (backups, a shell).
 * @returns a function that gives the right back
 * @throws AppError `DATABASE_LOCKED` when another process has it
 */
export function lockSqliteFile(file: string): () => void {
  const Sqlite = createRequire(import.meta.url)('better-sqlite3') as new (
    path: string,
    options: { timeout: number },
  ) => SqliteHandle;
  makePrivateFile(`${file}.lock`);
  const lock = new Sqlite(`${file}.lock`, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if ((cause as { code?: unknown }).code !== 'SQLITE_BUSY') throw cause;
    throw new AppError(
      'DATABASE_LOCKED',
      `The database ${file} belongs to another running Jackdaw. One process owns a SQLite file: stop the other one, or give this one its own DATA_DIR.`,
      { cause },
    );
  }
  return () => void lock.close();
}
