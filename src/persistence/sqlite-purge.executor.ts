import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '../errors/index.js';
import type { SqliteHandle } from './sqlite-handle.js';

/** Largest file that is rewritten during operation: half a second, in which the process does nothing else. */
export const PURGED_BYTES = 64 * 1024 * 1024;
/** Largest file that is rewritten when it is opened, before the server accepts requests: about 10 s. */
const PURGED_AT_OPENING_BYTES = 1024 * 1024 * 1024;
const MB = 1024 * 1024;

const FILE_SIZE = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()';
/** Suffix of a marker file that exists from the request for a purge until it is done. */
const PENDING = '-purge';

export interface Purged {
  /** Size of the rewritten file. */
  readonly bytes: number;
  /** The part left for later and the reason, as a log line; `null` if no deleted data remains. */
  readonly left: string | null;
}

/**
 * Removes deleted data from the file. SQLite overwrites deleted rows with zeros (`secure_delete`), but split or merged
 * pages still have fragments, and the log has old writes. A marker file records the pending purge until it is done.
 * @param mostBytes a larger file is left for later
 */
export function purgeFile(handle: SqliteHandle, mostBytes: number): Purged {
  const note = handle.memory ? null : handle.name + PENDING;
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
    const message = `Deleted data is not yet removed from the SQLite file: ${messageOf(error)}. The removal is retried at the next erasure and at the next start.`;
    return { bytes, left: message };
  }
}

/** Runs a pending purge when the file is opened. @returns a log line; `null` without a pending purge */
export function purgeIfPending(handle: SqliteHandle): string | null {
  if (handle.memory || !existsSync(handle.name + PENDING)) return null;
  const { bytes, left } = purgeFile(handle, PURGED_AT_OPENING_BYTES);
  return left ?? `The SQLite file (${megabytes(bytes)}) was rewritten, to remove erased data.`;
}

/** Rewrites the file; the temporary copy is in memory, for a large file on disk. */
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
      ? 'at the next start, before requests are accepted'
      : 'by VACUUM, while the server is stopped';
  return `The SQLite file has ${megabytes(bytes)}: deleted data is overwritten, but fragments may remain until the file is rewritten ${when}.`;
}

function isLogEmptied(handle: SqliteHandle): boolean {
  const [{ busy }] = handle.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
  return busy === 0;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`;
}
