import { hash } from 'node:crypto';
import type { SecurityConfig } from '../../config/namespaces/index.js';
import { AesGcmCipher } from './aes-gcm-cipher.js';
import { Cipher, type RowPlace } from './cipher.js';
import { dataTampered, keyUnknown, parseSealed, SEALED } from './sealed-text.parser.js';

/** Null cipher without keys: stores plain text. */
export class PlainCipher extends Cipher {
  readonly head = null;

  seal(text: string): string {
    return text;
  }

  open(stored: string, place: RowPlace): string {
    if (!stored.startsWith(SEALED)) return stored;
    const sealed = parseSealed(stored);
    throw sealed ? keyUnknown(place, sealed.keyId) : dataTampered(place, 'its header is malformed');
  }

  digest(text: string): string {
    return hash('sha256', text);
  }

  digests(text: string): readonly string[] {
    return [this.digest(text)];
  }
}

export const PLAIN_CIPHER: Cipher = new PlainCipher();

export function createCipher({ encryption }: Pick<SecurityConfig, 'encryption'>): Cipher {
  const { keys, isStrict } = encryption;
  return keys.length === 0 ? PLAIN_CIPHER : new AesGcmCipher(keys, isStrict);
}
