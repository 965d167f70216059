import { AppError } from '../../errors/index.js';
import type { RowPlace } from './cipher.js';

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
