import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assertInner, assertInside, refused } from './inside-path.policy.js';
import { readTextFile } from './text-file.loader.js';

/** Reads files that an agent file names, from inside a folder alone. */
export function includeFrom(folder: string | undefined): (path: string) => string {
  return (path) => {
    if (folder === undefined) throw refused('there is no folder that it could be in');
    assertInner(path);
    return readTextFile(insideOf(folder, path));
  };
}

/** Links may lead anywhere: where they lead is what counts. */
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
  // A pipe would hold up whoever reads it.
  if (!statSync(real).isFile()) throw refused('expected a file');
  return real;
}
