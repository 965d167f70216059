/** Storage location of a text. An encrypted text opens only at the location that it was encrypted for. */
export interface RowPlace {
  readonly tenant: string;
  /** `table.column`. */
  readonly column: string;
  /** Id of the session, run or other resource that owns the row. */
  readonly owner: string;
  /** Key of the row within its owner; empty if the owner has one row. */
  readonly row: string | number;
  /** Version of an updatable row, counted up, so that an earlier text cannot be restored. */
  readonly version?: number;
}

/** The port to encryption at rest. Its input is JSON text, which is never empty and never starts like an encrypted text. */
export abstract class Cipher {
  /** Prefix of texts that it encrypts now; `null` if it stores plain text. */
  abstract readonly head: string | null;

  /** Encrypts a text for storage. */
  abstract seal(text: string, place: RowPlace): string;

  /**
   * Decrypts a stored text.
   * @throws AppError `DATA_TAMPERED` if it was not encrypted for this location, `ENCRYPTION_KEY_UNKNOWN`
   */
  abstract open(stored: string, place: RowPlace): string;
}
