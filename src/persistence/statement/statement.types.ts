import type { DatabaseKind } from '../../config/index.js';

/** The SQL dialect of a database; callers need it only beyond the methods of `Database`. */
export type Dialect = DatabaseKind;

/** A value that all databases store identically. Times are epoch ms, JSON is text. */
export type SqlValue = string | number | null;

export type Row = Readonly<Record<string, SqlValue>>;

/** SQL common to all databases: `?` placeholders, unquoted snake_case names. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * Required number of affected rows; any other number refuses the whole batch. Rows that an UPDATE leaves unchanged
   * count.
   */
  readonly rows?: number;
  /** The run whose status the statement changes: the listeners of `Database.onStatusChange` receive it after the commit. */
  readonly changedRun?: string;
}

/** Options of a commit; they have an effect on SQLite only, whose commits belong to this process. */
export interface CommitOptions {
  /** Longest wait for another batch to share the commit, in ms; default 0. */
  readonly waitsMs?: number;
  /**
   * Resolves when a crash of this process cannot undo the batch, before the fsync ends. A power failure in this moment
   * still undoes it. No later commit becomes durable without it.
   */
  readonly isEarly?: boolean;
}

/** Why a batch was refused: a wrong number of affected rows, or an existing row with the same key. */
export type RefusalReason = 'rows' | 'unique';
