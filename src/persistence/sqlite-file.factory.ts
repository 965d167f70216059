import { closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a missing folder and file with permissions for this user only. SQLite would create them readable for all
 * users, and gives its journals the permissions of the file. Existing permissions are unchanged.
 * @returns the path without symbolic links, so that a file has one lock under all its names
 */
export function prepareSqliteFile(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  makePrivateFile(file);
  return realpathSync(file);
}

export function makePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}
