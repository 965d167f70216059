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

/** Why a batch was refused: a statement touched other rows than it had to, or met a row that is already there. */
export type RefusalReason = 'rows' | 'unique';
