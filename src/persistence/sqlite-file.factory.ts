import { closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the folder and the file where they are missing, for this user only: SQLite would make them for everybody, and
 * gives its journals the file's own rights. What is there keeps its rights.
 * @returns the path without symbolic links: one file has one lock, whatever it is called
 */
export function prepareSqliteFile(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivateFile(file);
  return realpathSync(file);
}

export function makePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}
