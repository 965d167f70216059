import { z } from 'zod';
import type { EncryptionKey } from './app-config.types.js';

const ID = /^[A-Za-z0-9_-]{1,16}$/;
const KEY_BYTES = 32;
/** 32 bytes in base64, of either alphabet. */
const KEY = /^[A-Za-z0-9+/_-]{43}=?$/;

/** The entry, or its error; messages never contain the text of a key. */
function parseEntry(text: string): EncryptionKey | string {
  const [id = '', key, ...rest] = text.trim().split(':');
  if (key === undefined || rest.length > 0) return 'needs the two parts id:key';
  if (!ID.test(id)) return 'has an id that is not 1 to 16 of A-Z a-z 0-9 _ -';
  if (!KEY.test(key) || Buffer.from(key, 'base64').length !== KEY_BYTES)
    return 'has a key that is not 32 bytes in base64';
  return { id, key };
}

/** `ENCRYPTION_KEYS`: entries `id:base64`, comma-separated. Errors name an entry by its number, from 1. */
export function encryptionKeys() {
  return z.string().transform((text, context) => {
    const entries: EncryptionKey[] = [];
    for (const [index, part] of text.split(',').entries()) {
      const entry = parseEntry(part);
      const fault = typeof entry === 'string' ? entry : faultBeside(entry, entries);
      if (fault) {
        const message = `is not allowed: entry ${index + 1} ${fault} (\`openssl rand -base64 32\` makes a key)`;
        context.addIssue({ code: 'custom', message });
      }
      if (typeof entry !== 'string') entries.push(entry);
    }
    return entries;
  });
}

function faultBeside({ id, key }: EncryptionKey, others: readonly EncryptionKey[]): string | undefined {
  if (others.some((other) => other.id === id)) return `has the id "${id}" of an earlier entry`;
  const bytes = Buffer.from(key, 'base64');
  if (others.some((other) => bytes.equals(Buffer.from(other.key, 'base64')))) return 'has the key of an earlier entry';
  return undefined;
}
