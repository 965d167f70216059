import { statSync } from 'node:fs';
import { AppError, messageOf } from '../errors/index.js';
import { takeExclusiveName } from '../kernel/platform/exclusive-name.js';
import { loadSqliteDriver } from './sqlite-handle.js';
import { makePrivateFile } from './sqlite-place.js';

/** A later attempt may succeed. */
export const LOCKED = { isRetryable: true, details: { retry_after_ms: 1_000 } };

/**
 * Takes the ownership of a database file for this process; others may still read the database (backups, a shell). The
 * lock file shows the owner to processes of other containers. On Linux the file itself is locked too, by device,
 * inode and time of creation, so that another name of the file and a removed lock file admit no second owner.
 * @returns a function that releases both
 * @throws AppError `DATABASE_LOCKED` when another process has it, `CONFIG_INVALID` for a damaged lock file
 */
export async function ownSqliteFile(file: string): Promise<() => void> {
  const unlock = lockFile(`${file}.lock`, refusalOf(file));
  try {
    // With the time of creation: an application that was never closed may have the name of a removed file, and file systems
    // use the inodes of removed files again.
    const { dev, ino, birthtimeNs } = statSync(file, { bigint: true });
    const release = await takeExclusiveName(`jackdaw-sqlite-${dev}-${ino}-${birthtimeNs}`);
    if (!release) throw new AppError('DATABASE_LOCKED', refusalOf(file), LOCKED);
    return () => {
      release();
      unlock();
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function refusalOf(file: string): string {
  return `The database ${file} belongs to another running Jackdaw. One process owns a SQLite file: stop the other one, give this one its own DATA_DIR, or set DATABASE_URL to a PostgreSQL database, which several processes share.`;
}

/**
 * Takes a lock that one process can have: an exclusive transaction on a small file, whose lock the operating system
 * releases even after kill -9.
 * @param refusal error message when another process has it
 * @returns a function that releases the lock
 * @throws AppError `DATABASE_LOCKED` when another process has it, `CONFIG_INVALID` for a file that cannot be a lock
 */
export function lockFile(file: string, refusal: string): () => void {
  const Sqlite = loadSqliteDriver();
  makePrivateFile(file);
  const lock = new Sqlite(file, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    throw toLockFailure(file, refusal, cause);
  }
  return () => void lock.close();
}

function toLockFailure(file: string, refusal: string, cause: unknown): unknown {
  const { code } = cause as { code?: unknown };
  if (code === 'SQLITE_BUSY') return new AppError('DATABASE_LOCKED', refusal, LOCKED);
  if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') return cause;
  return new AppError(
    'CONFIG_INVALID',
    `The lock file ${file} is damaged (${messageOf(cause)}). It contains no data: make sure that no other process uses it, delete it, then start again.`,
    { cause },
  );
}
