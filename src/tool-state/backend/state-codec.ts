import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { PLAIN_CIPHER, type Cipher, type RowPlace } from '../../security/encryption/index.js';
import { stateDamaged } from '../tool-state.error.js';

/**
 * Prefix of a compressed text. The text is a JSON string, as required by the cipher; a state's own text starts with a
 * brace.
 */
const COMPRESSED = '"gzip:';
/** Minimum length to compress, in characters. */
const MIN_LENGTH = 1024;
/** The fastest level: most of the gain, and compression blocks the event loop. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

export interface StateCodecOptions {
  readonly cipher?: Cipher;
  /** Whether to compress new texts; compressed texts are readable in any case. */
  readonly isCompressed?: boolean;
}

/** Codec for the JSON texts of states: optional compression if it saves space, then encryption. */
export class StateCodec {
  private readonly cipher: Cipher;
  private readonly isCompressed: boolean;

  constructor({ cipher = PLAIN_CIPHER, isCompressed = false }: StateCodecOptions = {}) {
    this.cipher = cipher;
    this.isCompressed = isCompressed;
  }

  /** Whether a text has the current encryption key; compression is ignored. */
  isCurrent(stored: string): boolean {
    return this.cipher.head === null || stored.startsWith(this.cipher.head);
  }

  seal(json: string, place: RowPlace): string {
    return this.cipher.seal(this.isCompressed ? compress(json) : json, place);
  }

  /** @throws AppError `DATA_TAMPERED` for text that was not stored in this place, `ENCRYPTION_KEY_UNKNOWN` */
  open(stored: string, place: RowPlace): string {
    return expand(this.cipher.open(stored, place));
  }
}

function compress(json: string): string {
  if (json.length < MIN_LENGTH) return json;
  const compressed = `${COMPRESSED}${gzipSync(json, OPTIONS).toString('base64')}"`;
  return compressed.length < Buffer.byteLength(json) ? compressed : json;
}

function expand(text: string): string {
  if (!text.startsWith(COMPRESSED)) return text;
  try {
    return gunzipSync(Buffer.from(text.slice(COMPRESSED.length, -1), 'base64')).toString('utf8');
  } catch (error) {
    throw stateDamaged(error);
  }
}
