import { AppError } from '../errors/index.js';
import { loadSqliteDriver } from './sqlite-driver.loader.js';
import { makePrivateFile } from './sqlite-file.factory.js';

/** A later attempt may succeed. */
export const LOCKED = { isRetryable: true, details: { retry_after_ms: 1_000 } };

/**
 * Takes the lock of a database file for this process; others may still read the database (backups, a shell).
 * @returns a function that releases the lock
 * @throws AppError `DATABASE_LOCKED` when another process has it
 */
export function lockSqliteFile(file: string): () => void {
  return lockFile(
    `${file}.lock`,
    `The database ${file} belongs to another running Jackdaw. One process owns a SQLite file: stop the other one, give this one its own DATA_DIR, or set DATABASE_URL to a PostgreSQL database, which several processes share.`,
  );
}

/**
 * Takes a lock that one process can have: an exclusive transaction on a small file, whose lock the operating system
 * releases even after kill -9.
 * @param refusal error message when another process has it
 * @returns a function that releases the lock
 * @throws AppError `DATABASE_LOCKED` when another process has it
 */
export function lockFile(file: string, refusal: string): () => void {
  const Sqlite = loadSqliteDriver();
  makePrivateFile(file);
  const lock = new Sqlite(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if ((cause as { code?: unknown }).code !== 'SQLITE_BUSY') throw cause;
    throw new AppError('DATABASE_LOCKED', refusal, LOCKED);
  }
  return () => void lock.close();
}
