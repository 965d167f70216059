/** A value that every one of the databases stores alike. Times are epoch ms, JSON is text. */
export type SqlValue = string | number | null;

/** SQL that the databases have in common: `?` placeholders, unquoted snake_case names. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** How many rows it must touch; with any other number the whole batch is refused. */
  readonly rows?: number;
}

/** Why a batch was refused: a statement touched other rows than it had to, or met a row that is already there. */
export type RefusalReason = 'rows' | 'unique';

/**
 * The port to the one database. What needs several statements is a batch: all of it is durable when `commit`
 * resolves, or none of it happened. Nothing can be awaited inside a batch.
 */
export abstract class Database {
  /**
   * Applies a batch atomically and durably.
   * @throws AppError `COMMIT_REFUSED` (see `refusalOf`) when a condition of the batch does not hold
   */
  abstract commit(batch: readonly Statement[]): Promise<void>;

  /** Reads rows by one prepared statement. */
  abstract query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;

  /** An insert that does nothing when the row is already there. */
  abstract insertIgnore(table: string, row: Readonly<Record<string, SqlValue>>): Statement;

  /** Resolves when the database answers. */
  abstract ping(): Promise<void>;

  /** Commits what still waits; then the connection may be closed. */
  abstract close(): Promise<void>;
}

/** An insert of one row; the SQL is the same for the same columns, so that it is prepared once. */
export function insert(table: string, row: Readonly<Record<string, SqlValue>>): Statement {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join(', ');
  return { sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, params: Object.values(row) };
}
