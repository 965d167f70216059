import { entries } from './env-value.schema.js';

/** One entry of `ENCRYPTION_KEYS`. */
export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes in base64. */
  readonly key: string;
}

const ID = /^[A-Za-z0-9_-]{1,16}$/;
const KEY_BYTES = 32;
/** 32 bytes in base64, of either alphabet. */
const KEY = /^[A-Za-z0-9+/_-]{43}=?$/;

/** The entry, or its error; messages never contain the text of a key. */
function parseEntry(text: string): EncryptionKey | string {
  const [id = '', key, ...rest] = text.split(':');
  if (key === undefined || rest.length > 0) return 'needs the two parts id:key';
  if (!ID.test(id)) return 'has an id that is not 1 to 16 of A-Z a-z 0-9 _ -';
  if (!KEY.test(key) || Buffer.from(key, 'base64').length !== KEY_BYTES)
    return 'has a key that is not 32 bytes in base64';
  return { id, key };
}

/** `ENCRYPTION_KEYS`: entries `id:base64`, comma-separated. */
export function encryptionKeys() {
  return entries(parseEntry, faultBeside, '`openssl rand -base64 32` makes a key');
}

function faultBeside({ id, key }: EncryptionKey, others: readonly EncryptionKey[]): string | undefined {
  if (others.some((other) => other.id === id)) return `has the id "${id}" of an earlier entry`;
  const bytes = Buffer.from(key, 'base64');
  if (others.some((other) => bytes.equals(Buffer.from(other.key, 'base64')))) return 'has the key of an earlier entry';
  return undefined;
}
