import { AppError } from '../../errors/index.js';
import type { RowPlace } from './cipher.js';

/** Prefix of encrypted texts; no JSON text starts with it. */
export const SEALED = 'enc:';
/** The only format version: AES-256-GCM, `base64url(IV 12 bytes, text, tag 16 bytes)`. */
export const SEALED_VERSION = '1';
/** Maximum length of a header, in characters. */
export const MAX_HEAD = SEALED.length + SEALED_VERSION.length + 18;

export interface SealedText {
  /** The text before the body. */
  readonly head: string;
  readonly version: string;
  readonly keyId: string;
  readonly body: string;
}

export function headOf(keyId: string): string {
  return `${SEALED}${SEALED_VERSION}:${keyId}:`;
}

/** @returns `null` for a text that has the prefix but not the format */
export function parseSealed(stored: string): SealedText | null {
  const [head, version, keyId] = /^enc:(\d{1,4}):([A-Za-z0-9_-]{1,16}):/.exec(stored) ?? [];
  if (head === undefined || version === undefined || keyId === undefined) return null;
  return { head, version, keyId, body: stored.slice(head.length) };
}

/** @param why without a full stop */
export function dataTampered({ column, owner, row }: RowPlace, why: string): AppError {
  return new AppError(
    'DATA_TAMPERED',
    `The stored ${column} of "${owner}"${row === '' ? '' : `, row "${row}"`} does not match the text that was written: ${why}. Restore the row from a backup.`,
    { details: { column, owner, row } },
  );
}

export function keyUnknown({ column, owner, row }: RowPlace, keyId: string): AppError {
  return new AppError(
    'ENCRYPTION_KEY_UNKNOWN',
    `The ${column} of "${owner}" is encrypted with the key "${keyId}", which is not in ENCRYPTION_KEYS: add it there, after the first.`,
    { details: { column, owner, row, key: keyId } },
  );
}
