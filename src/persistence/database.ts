import { AppError } from '../common/index.js';
import { insertIgnore, limitedDelete, upsert } from './statement.factory.js';
import type { CommitOptions, Dialect, Row, SqlValue, Statement } from './statement.types.js';

/**
 * The port to the one database. What needs several statements is a batch: all of it is durable when `commit`
 * resolves, or none of it happened. Nothing can be awaited inside a batch.
 */
export abstract class Database {
  private readonly companions = new Map<unknown, unknown>();
  private isClosed = false;

  abstract readonly dialect: Dialect;
  /** Whether no other process can write to it: SQLite's file is locked. */
  readonly isOwn: boolean = false;
  /** Whether batches are applied in the order in which they are given, however many are on their way. */
  readonly keepsOrder: boolean = false;

  /**
   * Applies a batch atomically and durably.
   * @throws AppError `COMMIT_REFUSED` (see `refusalOf`) when a condition of the batch does not hold: nothing was applied.
   * AppError `DATABASE_LOCKED` when another process has become the database's owner. Any other error is the driver's;
   * if it is of the connection, nobody knows whether the batch was applied
   */
  abstract commit(batch: readonly Statement[], options?: CommitOptions): Promise<void>;

  /** Reads rows by one prepared statement; `bigint` columns are numbers. */
  abstract query<Found>(sql: string, params?: readonly SqlValue[]): Promise<Found[]>;

  /** Resolves when the database answers. */
  abstract ping(): Promise<void>;

  /**
   * Takes what was deleted out of the database's files too, where a process can do that: SQLite's, wholly up to 64 MB, in
   * larger ones but for pieces in pages that are in use, which leave it at the next start. A server keeps old rows in its own
   * files until it needs their place. What cannot be done is logged, and done later.
   */
  async purge(): Promise<void> {}

  /** Commits what still waits; then the connection may be closed, and whatever is asked fails with `SHUTTING_DOWN`. */
  async close(): Promise<void> {
    await this.drain();
    this.isClosed = true;
  }

  /** Commits what still waits. */
  protected abstract drain(): Promise<void>;

  /** @throws AppError `SHUTTING_DOWN` once it is closed: a driver's own error would not say why */
  protected assertOpen(): void {
    if (!this.isClosed) return;
    throw new AppError('SHUTTING_DOWN', 'The database is closed, since the application that used it is closed.');
  }

  /**
   * An object that all applications of this process that use this database share.
   * @param key identifies the object, for example its class
   * @param create creates the object at the first call
   */
  shared<T>(key: unknown, create: () => T): T {
    if (!this.companions.has(key)) this.companions.set(key, create());
    return this.companions.get(key) as T;
  }

  /** An insert that does nothing when the row is already there. How many rows it touches differs: give it no `rows`. */
  insertIgnore(table: string, row: Row): Statement {
    return insertIgnore(this.dialect, table, row);
  }

  /**
   * An insert of rows that replaces those with the same keys; the table has no other unique key that they could meet.
   * How many rows it touches differs: give it no `rows`.
   * @param rows at least one; they name the same columns, and no two have the same key
   */
  upsert(table: string, rows: readonly Row[], keyColumns: readonly string[]): Statement {
    return upsert(this.dialect, table, rows, keyColumns);
  }

  /**
   * Deletes up to `limit` rows, so that a large clean-up is many short transactions.
   * @param keyColumns the table's primary key
   * @param where a condition with `?` placeholders; it may end in an ORDER BY
   */
  limitedDelete(
    table: string,
    keyColumns: readonly string[],
    where: string,
    params: readonly SqlValue[],
    limit: number,
  ): Statement {
    return limitedDelete(this.dialect, table, keyColumns, { where, params }, limit);
  }
}
