import type { DatabaseKind } from '../config/index.js';

/** Which SQL a database speaks; callers need it only for what `Database` does not offer. */
export type Dialect = DatabaseKind;

/** A value that every one of the databases stores alike. Times are epoch ms, JSON is text. */
export type SqlValue = string | number | null;

export type Row = Readonly<Record<string, SqlValue>>;

/** SQL that the databases have in common: `?` placeholders, unquoted snake_case names. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** How many rows it must touch; with any other number the whole batch is refused. A row that an UPDATE leaves as it was counts. */
  readonly rows?: number;
}

/** How a batch is committed; only SQLite, whose commits are this process's own, knows a difference. */
export interface CommitOptions {
  /** How long it may wait for another one to share its commit with, in ms; 0 by default. */
  readonly waitsMs?: number;
  /**
   * Resolves when no crash of this process can undo the batch, while the disk is still at work: should the machine lose its
   * power in that moment, it never happened. Nothing that is committed later is durable without it.
   */
  readonly isEarly?: boolean;
}

/** Why a batch was refused: a statement touched other rows than it had to, or met a row that is already there. */
export type RefusalReason = 'rows' | 'unique';
