import type { RowPlace } from './cipher.js';

/** A row as the database returns it. */
export type StoredRow = Readonly<Record<string, string | number | null>>;

/** A column with encrypted texts; `null` and empty texts are stored as they are. */
export interface SealedColumn {
  readonly name: string;
  /** @param row has the columns of `key` and `also` */
  readonly place: (row: StoredRow) => RowPlace;
}

/** A table with encrypted columns. */
export interface SealedTable {
  readonly name: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Further columns that `place` reads. */
  readonly also?: readonly string[];
  readonly columns: readonly SealedColumn[];
}
