import type { Cipher, RowPlace } from './cipher.js';

/** A row as the database returns it. */
export type StoredRow = Readonly<Record<string, string | number | null>>;

/** A column with encrypted texts; `null` and empty texts are stored as they are. */
export interface SealedColumn {
  readonly name: string;
  /** @param row has the columns of `key` and `also` */
  readonly place: (row: StoredRow) => RowPlace;
  /** Maps an unencrypted text to JSON, if unencrypted rows do not contain JSON. */
  readonly toJson?: (plain: string) => string;
  /** Values of further columns, which depend on the key and on this column's text. @param json the decrypted text */
  readonly dependents?: (json: string, row: StoredRow, cipher: Cipher) => Readonly<Record<string, string>>;
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
