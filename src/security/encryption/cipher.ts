import { AppError, type ErrorCode } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';

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

/** Location of a hash that replaces a text. Equal texts have different hashes at different locations. */
export type HashPlace = Pick<RowPlace, 'tenant' | 'column' | 'owner'>;

/** Codes of errors of damaged stored texts. */
const DAMAGE: readonly ErrorCode[] = ['DATA_TAMPERED', 'STORED_DATA_INVALID'];

/** The port to encryption at rest. Its input is JSON text, which is never empty and never starts like an encrypted text. */
export abstract class Cipher {
  /** Prefix of texts that it encrypts now; `null` if it stores plain text. */
  abstract readonly head: string | null;
  /** By key id: a value that shows whether a key is the same one, and from which the key cannot be derived. */
  readonly keyChecks: ReadonlyMap<string, string> = new Map();

  /** Encrypts a text for storage. */
  abstract seal(text: string, place: RowPlace): string;

  /**
   * Decrypts a stored text.
   * @throws AppError `DATA_TAMPERED` if it was not encrypted for this location, `ENCRYPTION_KEY_UNKNOWN`
   */
  abstract open(stored: string, place: RowPlace): string;

  /** The value of a stored text. @throws AppError as `open`, and `STORED_DATA_INVALID` for a text that is no JSON */
  openJson(stored: string, place: RowPlace): unknown {
    return Cipher.parse(this.open(stored, place), place);
  }

  /** The value of a text that was stored at this location. @throws AppError `STORED_DATA_INVALID` */
  static parse(text: string, place: RowPlace): unknown {
    try {
      return parseExactJson(text);
    } catch (cause) {
      throw storedDataInvalid(place, cause);
    }
  }

  /** True for the error of a damaged stored text, which no later read can change. */
  static isDamage(error: unknown): error is AppError {
    return error instanceof AppError && DAMAGE.includes(error.code);
  }

  /**
   * The hash of a text that must be found without decryption, 64 hex digits. With keys it depends on the first key, so that a reader without the key
   * cannot try likely texts.
   */
  abstract digest(text: string, place: HashPlace): string;

  /** All hashes that rows may have for a text: the current one, then those of earlier keys and of plain rows. */
  abstract digests(text: string, place: HashPlace): readonly string[];
}

/** The error of a stored text that is no JSON: the row is damaged. */
function storedDataInvalid({ column, owner, row }: RowPlace, cause: unknown): AppError {
  return new AppError(
    'STORED_DATA_INVALID',
    `The stored ${column} of "${owner}"${row === '' ? '' : `, row "${row}"`} is damaged. Restore the row from a backup.`,
    { cause, details: { column, owner, row } },
  );
}
