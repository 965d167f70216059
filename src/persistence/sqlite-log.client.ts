import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { AppError, messageOf } from '../errors/index.js';
import type { SqliteHandle } from './sqlite-handle.js';
import type { Statement } from './statement/statement.types.js';

/** Makes a file's data durable, as `node:fs` does. */
type Fdatasync = (file: number, done: (error: Error | null) => void) => void;

/** Fsync time, in ms, below which a thread switch takes nearly as long. */
const QUICK_DISK_MS = 0.1;

/** Runs fsync on another thread, or in place where that is faster. @param fsyncMs fsync time of a page, in ms */
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

/** The write-ahead log of a SQLite file: commits are written to it and made durable beside the event loop. */
export class SqliteLog {
  private readonly file: number;
  private isClosed = false;
  private failure: AppError | null = null;

  private constructor(
    private readonly handle: SqliteHandle,
    private readonly disk: Fdatasync,
  ) {
    // This read creates the log file, which exists while the database is open.
    handle.prepare('SELECT 1 FROM sqlite_schema').all();
    this.file = openSync(`${handle.name}-wal`, 'r+');
  }

  /**
   * @returns `null` for a database without such a log: in memory, or on a disk that does not support one. Throws when
   * it cannot be opened
   */
  static of(handle: SqliteHandle, disk: Fdatasync = fdatasync): SqliteLog | null {
    const [{ journal_mode }] = handle.pragma('journal_mode') as [{ journal_mode: string }];
    return journal_mode === 'wal' ? new SqliteLog(handle, disk) : null;
  }

  /**
   * Runs work that commits: it is written on return, and durable after the next `sync` has resolved.
   * @throws AppError `JOURNAL_UNAVAILABLE` when the disk has failed before
   */
  write(work: () => void): void {
    this.check();
    // Only for this work: a single statement elsewhere must be durable on return.
    this.handle.exec('PRAGMA synchronous = NORMAL');
    try {
      work();
    } finally {
      this.handle.exec('PRAGMA synchronous = FULL');
    }
  }

  /**
   * Resolves when all written data is durable.
   * @throws AppError `JOURNAL_UNAVAILABLE` when the disk fails. It is then unknown which written data is durable: a
   *   repeated fsync may succeed although data was lost
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
    // After close, the file descriptor may belong to another file.
    if (!this.isClosed) closeSync(this.file);
    this.isClosed = true;
  }
}

function diskFailed(name: string, cause: Error): AppError {
  return new AppError(
    'JOURNAL_UNAVAILABLE',
    `The disk failed to make writes to ${name} durable (${messageOf(cause)}). This process no longer writes to it or reads from it: check the disk, then restart.`,
    { cause },
  );
}

/** A batch that waits for the next group. */
export interface WaitingBatch {
  readonly batch: readonly Statement[];
  /** Whether it resolves when it is written, before it is durable. */
  readonly isEarly: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Errors of the refused batches of a group. */
export type Refusals = ReadonlyMap<WaitingBatch, unknown>;

export const NONE: Refusals = new Map();

export function settle(waiting: readonly WaitingBatch[], refusals: Refusals): void {
  for (const one of waiting) {
    if (refusals.has(one)) one.reject(refusals.get(one));
    else one.resolve();
  }
}

/** @returns the batches that wait for the fsync */
export function settleEarly(waiting: readonly WaitingBatch[], refusals: Refusals): readonly WaitingBatch[] {
  const early = waiting.filter(({ isEarly }) => isEarly);
  if (early.length === 0) return waiting;
  settle(early, refusals);
  return waiting.filter(({ isEarly }) => !isEarly);
}

export function refuse(waiting: readonly WaitingBatch[], error: unknown): Refusals {
  return new Map(waiting.map((one) => [one, error]));
}

/** Another process has locked the file; nothing was written. */
export function isLocked(error: unknown): boolean {
  return String((error as { code?: unknown } | null | undefined)?.code).startsWith('SQLITE_BUSY');
}

export function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
