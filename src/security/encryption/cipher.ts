/** Where a text is stored. A sealed text opens only in the place that it was sealed for. */
export interface RowPlace {
  readonly tenant: string;
  /** `table.column`. */
  readonly column: string;
  /** The session, run or other thing that the row belongs to. */
  readonly owner: string;
  /** What tells the row apart within its owner; empty when the owner has one. */
  readonly row: string | number;
  /** Of rows that are changed: counted up, so that no earlier text can be put back. */
  readonly version?: number;
}

/** The port to encryption at rest. What it takes is JSON text, which is never empty and never begins as a sealed text does. */
export abstract class Cipher {
  /** What everything begins with that it seals now; `null` when it leaves texts as they are. */
  abstract readonly head: string | null;

  /** The text as it is stored. */
  abstract seal(text: string, place: RowPlace): string;

  /**
   * The text that was stored.
   * @throws AppError `DATA_TAMPERED` when it is not what was stored in this place, `ENCRYPTION_KEY_UNKNOWN`
   */
  abstract open(stored: string, place: RowPlace): string;
}
