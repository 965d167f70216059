import type { SecurityConfig } from '../../config/index.js';
import { AesGcmCipher } from './aes-gcm-cipher.js';
import type { Cipher } from './cipher.js';
import { PLAIN_CIPHER } from './plain-cipher.js';

export function createCipher({ encryption }: Pick<SecurityConfig, 'encryption'>): Cipher {
  const { keys, isStrict } = encryption;
  return keys.length === 0 ? PLAIN_CIPHER : new AesGcmCipher(keys, isStrict);
}
