import { access, constants, mkdir } from 'node:fs/promises';
import { AppError, messageOf } from '../errors/index.js';

const ELSEWHERE = 'or set another DATA_DIR';
const READ_ONLY = `it is read-only here: make it writable, ${ELSEWHERE}`;
const FORBIDDEN = `this user may not write there: make it writable, ${ELSEWHERE}`;
const NO_FOLDER = `a part of its path is a file and must be a folder: move that away, ${ELSEWHERE}`;
const NO_SPACE = `the disk is full: make room, ${ELSEWHERE}`;

/** The fault and its remedy, by the code of the file system or the first two words of SQLite's code. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: READ_ONLY,
  SQLITE_READONLY: READ_ONLY,
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EISDIR: `it is a folder and must be a file: move it away, ${ELSEWHERE}`,
  ENOSPC: NO_SPACE,
  SQLITE_FULL: NO_SPACE,
  SQLITE_NOTADB: `it is not a SQLite database: restore it from a backup, move it away, ${ELSEWHERE}`,
  SQLITE_CORRUPT:
    'it is damaged: restore it from a backup (docs/operations.md), or move it away with its -wal file and set ALLOW_NEW_DATABASE=true to start with an empty one',
};

/** The error of a database that cannot be opened; an error of another kind is returned unchanged. */
export function toOpenFailure(file: string, cause: unknown): unknown {
  const code = codeOf(cause);
  if (code === 'SQLITE_BUSY') {
    const message = `The database ${file} is being written to by another process: stop that one, or set another DATA_DIR.`;
    return new AppError('DATABASE_LOCKED', message, { cause });
  }
  const isOfFile = /^E[A-Z]+$|^SQLITE_(CANTOPEN|IOERR)$/.test(code);
  const reason = REASONS[code] ?? (isOfFile ? messageOf(cause) : undefined);
  if (reason === undefined) return cause;
  return new AppError('CONFIG_INVALID', `The database ${file} cannot be opened: ${reason}.`, { cause });
}

/**
 * Creates a folder for this user only, if it is missing, and checks that files can be created in it.
 * @throws AppError `CONFIG_INVALID` that names the folder
 */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (cause) {
    const reason = REASONS[codeOf(cause)] ?? messageOf(cause);
    throw new AppError('CONFIG_INVALID', `The folder ${folder} cannot be used: ${reason}.`, { cause });
  }
}

/** `SQLITE_CORRUPT` for `SQLITE_CORRUPT_VTAB`. */
function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code.replace(/^(SQLITE_[A-Z]+)_.*$/, '$1') : '';
}
