import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '../common/index.js';
import type { SqliteHandle } from './sqlite-handle.types.js';

/** A file up to this size is written anew while others wait: that takes half a second, in which nothing else happens. */
export const PURGED_BYTES = 64 * 1024 * 1024;
/** One up to this size when it is opened, before anybody waits: 10 s or so. */
const PURGED_AT_OPENING_BYTES = 1024 * 1024 * 1024;
const MB = 1024 * 1024;

const FILE_SIZE = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()';
/** What a file's name ends with that is there from when something is to leave the database's file until it has. */
const OWED = '-purge';

export interface Purged {
  /** The size of the file that was written anew. */
  readonly bytes: number;
  /** What of it is left for later, and why, as a line for the log; `null` when nothing of what was deleted is there. */
  readonly left: string | null;
}

/**
 * Takes what was deleted out of the file: where it stood there are zeros (`secure_delete`), but pages that were split or joined
 * still have pieces, and the log has what was written. That it is to be done stays noted beside it until it is done.
 * @param mostBytes a larger file is left for later
 */
export function purgeFile(handle: SqliteHandle, mostBytes: number): Purged {
  const note = handle.memory ? null : handle.name + OWED;
  let bytes = 0;
  try {
    [{ bytes }] = handle.prepare(FILE_SIZE).all() as [{ bytes: number }];
    if (note !== null) writeFileSync(note, '');
    if (bytes > mostBytes) return { bytes, left: tooLarge(handle, bytes) };
    rewrite(handle, bytes);
    if (!isLogEmptied(handle)) throw new Error('another process reads the file');
    if (note !== null) rmSync(note, { force: true });
    return { bytes, left: null };
  } catch (error) {
    const message = `What was deleted is not out of the SQLite file yet: ${messageOf(error)}. It is tried again with the next erasure, and at the next start.`;
    return { bytes, left: message };
  }
}

/** The same when the file is opened, if it is to be done. @returns a line for the log; `null` when there was nothing to do */
export function purgeWhenOwed(handle: SqliteHandle): string | null {
  if (handle.memory || !existsSync(handle.name + OWED)) return null;
  const { bytes, left } = purgeFile(handle, PURGED_AT_OPENING_BYTES);
  return left ?? `The SQLite file (${megabytes(bytes)}) was written anew: something had been erased from it.`;
}

/** What is written meanwhile is held in memory, but for a large file. */
function rewrite(handle: SqliteHandle, bytes: number): void {
  if (bytes <= PURGED_BYTES) {
    handle.exec('VACUUM');
    return;
  }
  handle.pragma('temp_store = FILE');
  try {
    handle.exec('VACUUM');
  } finally {
    handle.pragma('temp_store = MEMORY');
  }
}

function tooLarge(handle: SqliteHandle, bytes: number): string {
  isLogEmptied(handle);
  const when =
    bytes <= PURGED_AT_OPENING_BYTES
      ? 'at the next start, before anything is served'
      : 'by VACUUM, while the server is stopped';
  return `The SQLite file has ${megabytes(bytes)}: what was deleted is overwritten, but for pieces that may be left until the file is written anew ${when}.`;
}

function isLogEmptied(handle: SqliteHandle): boolean {
  const [{ busy }] = handle.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
  return busy === 0;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`;
}
