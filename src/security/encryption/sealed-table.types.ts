import type { RowPlace } from './cipher.js';

/** A row as the database gives it. */
export type StoredRow = Readonly<Record<string, string | number | null>>;

/** A column whose texts are sealed; `null` and empty texts are not. */
export interface SealedColumn {
  readonly name: string;
  /** @param row has the key and what `also` names */
  readonly place: (row: StoredRow) => RowPlace;
}

/** A table with sealed columns, for what goes through all of its rows. */
export interface SealedTable {
  readonly name: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Further columns that a place is made of. */
  readonly also?: readonly string[];
  readonly columns: readonly SealedColumn[];
}
