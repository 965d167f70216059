import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { AppError, messageOf } from '../errors/index.js';
import { endTree } from '../kernel/platform/process-tree.js';
import { spawnProgram } from '../kernel/platform/program.js';

/** Longest check at the start, in ms: enough for 8 GB at 300 MB/s (decision 66). */
const CHECK_MS = 30_000;
/** Maximum faults in the error. */
const FAULTS = 3;

/**
 * Only reads: opened for writing, SQLite would move the log into a damaged file at the end. The file is read once in
 * order, as the check itself reads single pages, which takes a disk ten times as long. A row of the check is `ok`, or a
 * fault.
 */
const SCRIPT = `
const [driver, file] = process.argv.slice(1);
const { openSync, readSync } = require('node:fs');
let found = [];
try {
  const bytes = Buffer.alloc(1 << 20);
  for (const disk = openSync(file); readSync(disk, bytes, 0, bytes.length, null) > 0; );
  const database = new (require(driver))(file, { readonly: true, fileMustExist: true });
  found = database.pragma('quick_check(${FAULTS})').map((row) => row.quick_check).filter((line) => line !== 'ok');
} catch (error) {
  if (!/^(EIO$|SQLITE_(CORRUPT|IOERR))/.test(error.code)) throw error;
  found = [error.message];
}
process.stdout.write(JSON.stringify(found));
`;

/**
 * Checks the structure of a database file in another process: the check of a large or damaged file may take long, and it
 * does not block the event loop.
 * @returns a warning if the check did not finish
 * @throws AppError `CONFIG_INVALID` if the file is damaged; it is unchanged
 */
export async function checkSqliteFile(file: string, limitMs = CHECK_MS): Promise<string | null> {
  const found = await faultsOf(file, limitMs).catch((error: unknown) => messageOf(error));
  if (typeof found === 'string') {
    return `The check of the database ${file} after an unclean stop did not finish (${found}). Check it when Jackdaw is stopped: sqlite3 ${file} "PRAGMA quick_check".`;
  }
  if (found.length > 0) throw damaged(file, found);
  return null;
}

/** @returns the faults, or why the check did not finish */
async function faultsOf(file: string, limitMs: number): Promise<string[] | string> {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3-v13');
  const child = spawnProgram(process.execPath, ['-e', SCRIPT, driver, file], { env: {} });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) endTree(child.pid, 'SIGKILL');
  }, limitMs);
  try {
    const output = await Promise.race([Promise.all([text(child.stdout), text(child.stderr)]), failed]);
    if (isLate) return `it takes more than ${limitMs / 1000} s`;
    if (output[0] === '')
      return (
        output[1]
          .trim()
          .split('\n')
          .find((line) => line.includes('Error')) ?? 'no output'
      );
    return JSON.parse(output[0]) as string[];
  } finally {
    clearTimeout(timer);
  }
}

function damaged(file: string, found: readonly string[]): AppError {
  // A fault has several lines, the first of which names the database in SQLite's way.
  const faults = found.flatMap((fault) => fault.split('\n').filter((line) => !line.startsWith('***')));
  return new AppError(
    'CONFIG_INVALID',
    `The database ${file} is damaged: ${faults.slice(0, FAULTS).join('; ') || found.join('; ')}. It was not changed. Restore it from a backup: move it away with ${file}-wal and ${file}-shm, then put the backup there (docs/operations.md). Without a backup, \`sqlite3 ${file} .recover\` extracts the readable rows.`,
  );
}
