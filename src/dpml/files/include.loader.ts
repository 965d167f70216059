import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { AppError } from '../../common/index.js';
import { readTextFile } from './text-file.loader.js';

/** Reads files that an agent file names, from inside a folder alone. */
export function includeFrom(folder: string | undefined): (path: string) => string {
  return (path) => {
    if (folder === undefined) throw refused('there is no folder that it could be in');
    const parts = path.split(/[\\/]/);
    if (path === '' || isAbsolute(path) || /^[A-Za-z]:/.test(path)) throw refused('expected a path inside the folder');
    if (parts.includes('..') || path.includes('\0')) throw refused('expected a path inside the folder, without ..');
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
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw refused('it leads out of the folder');
  // A pipe would hold up whoever reads it.
  if (!statSync(real).isFile()) throw refused('expected a file');
  return real;
}

function refused(message: string): AppError {
  return new AppError('AGENT_INVALID', message);
}
