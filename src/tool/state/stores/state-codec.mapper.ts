import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { PLAIN_CIPHER, type Cipher, type RowPlace } from '../../../security/index.js';
import { stateDamaged } from '../tool-state.error.js';

/** What a compressed text begins with. It is a JSON text, as what is sealed must be; a state's own begins with a brace. */
const COMPRESSED = '"gzip:';
/** Shorter texts are not worth it, in characters. */
const MIN_LENGTH = 1024;
/** The quick one: most of the gain, and everything else in this process waits for it. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

export interface StateCodecOptions {
  readonly cipher?: Cipher;
  /** Whether texts are compressed; those that were are read in any case. */
  readonly isCompressed?: boolean;
}

/** How the JSON texts of states are stored: compressed where that is wanted and gains something, then sealed. */
export class StateCodec {
  private readonly cipher: Cipher;
  private readonly isCompressed: boolean;

  constructor({ cipher = PLAIN_CIPHER, isCompressed = false }: StateCodecOptions = {}) {
    this.cipher = cipher;
    this.isCompressed = isCompressed;
  }

  /** Whether a text is stored as it would be now, but for being compressed. */
  isCurrent(stored: string): boolean {
    return this.cipher.head === null || stored.startsWith(this.cipher.head);
  }

  seal(json: string, place: RowPlace): string {
    return this.cipher.seal(this.isCompressed ? compress(json) : json, place);
  }

  /** @throws AppError `DATA_TAMPERED` when it is not what was stored in this place, `ENCRYPTION_KEY_UNKNOWN` */
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
