import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assertInner, assertInside, refused } from './inside-path.policy.js';
import { readTextFile } from './text-file.loader.js';

/** Returns a reader for files that an agent file includes, restricted to a folder. */
export function includeFrom(folder: string | undefined): (path: string) => string {
  return (path) => {
    if (folder === undefined) throw refused('there is no folder that it could be in');
    assertInner(path);
    return readTextFile(insideOf(folder, path));
  };
}

/** Resolves links before the check that the target is inside the folder. */
function insideOf(folder: string, path: string): string {
  let real: string;
  let root: string;
  try {
    root = realpathSync(folder);
    real = realpathSync(join(folder, path));
  } catch {
    throw refused('there is no such file in the folder');
  }
  assertInside(root, real);
  // Reading a pipe would block.
  if (!statSync(real).isFile()) throw refused('expected a file');
  return real;
}
