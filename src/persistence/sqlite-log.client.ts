import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { AppError, messageOf } from '../common/index.js';
import type { SqliteHandle } from './sqlite-handle.types.js';

/** Makes a file's data durable, as `node:fs` does. */
type Fdatasync = (file: number, done: (error: Error | null) => void) => void;

/** In ms: the way to another thread and back takes nearly as long. */
const QUICK_DISK_MS = 0.1;

/** How a disk is waited for: beside the event loop, or in place where that is sooner over. @param fsyncMs what it takes for a page, in ms */
export function syncerOf(fsyncMs: number): Fdatasync {
  return fsyncMs < QUICK_DISK_MS ? syncInPlace : fdatasync;
}

function syncInPlace(file: number, done: (error: Error | null) => void): void {
  try {
    fdatasyncSync(file);
  } catch (error) {
    return done(error as Error);
  }
  done(null);
}

/** The write-ahead log of a SQLite file: what is committed is written there, and made durable while the event loop goes on. */
export class SqliteLog {
  private readonly file: number;
  private isClosed = false;
  private failure: AppError | null = null;

  private constructor(
    private readonly handle: SqliteHandle,
    private readonly disk: Fdatasync,
  ) {
    // With this it is there, and it stays as long as the database is open.
    handle.prepare('SELECT 1 FROM sqlite_schema').all();
    this.file = openSync(`${handle.name}-wal`, 'r+');
  }

  /** @returns `null` when the database has no such log: it is in memory, or its disk can have none. Throws when it cannot be opened */
  static of(handle: SqliteHandle, disk: Fdatasync = fdatasync): SqliteLog | null {
    const [{ journal_mode }] = handle.pragma('journal_mode') as [{ journal_mode: string }];
    return journal_mode === 'wal' ? new SqliteLog(handle, disk) : null;
  }

  /**
   * Does what commits, so that it is written when it returns, and durable once `sync` has resolved after that.
   * @throws AppError `JOURNAL_UNAVAILABLE` when the disk has failed before
   */
  write(work: () => void): void {
    this.check();
    // A statement of its own is durable when it returns: only this is not.
    this.handle.exec('PRAGMA synchronous = NORMAL');
    try {
      work();
    } finally {
      this.handle.exec('PRAGMA synchronous = FULL');
    }
  }

  /**
   * Resolves when all that has been written is durable.
   * @throws AppError `JOURNAL_UNAVAILABLE` when the disk fails. Nobody knows then what it has of all that was written: the
   * system may take it for durable when it is asked again
   */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.disk(this.file, (error) => {
        if (error) reject((this.failure ??= diskFailed(this.handle.name, error)));
        else resolve();
      });
    });
  }

  /** @throws AppError `JOURNAL_UNAVAILABLE` when the disk has failed before */
  check(): void {
    if (this.failure) throw this.failure;
  }

  close(): void {
    // The number of a file that is closed may be another one's.
    if (!this.isClosed) closeSync(this.file);
    this.isClosed = true;
  }
}

function diskFailed(name: string, cause: Error): AppError {
  return new AppError(
    'JOURNAL_UNAVAILABLE',
    `The disk failed to make durable what was written to ${name} (${messageOf(cause)}). This process writes nothing more to it, and reads nothing: look after the disk, then restart.`,
    { cause },
  );
}
