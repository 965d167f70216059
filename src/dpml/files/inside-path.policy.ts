import { isAbsolute, sep } from 'node:path';
import { AppError } from '../../common/index.js';

/** @throws AppError for a path that is not one of files inside a folder, wherever links lead */
export function assertInner(path: string): void {
  if (path === '' || isAbsolute(path) || /^[A-Za-z]:/.test(path)) throw refused('expected a path inside the folder');
  if (path.split(/[\\/]/).includes('..') || path.includes('\0')) {
    throw refused('expected a path inside the folder, without ..');
  }
}

/** @param root and where a path in it leads, both without links. @throws AppError when that is elsewhere */
export function assertInside(root: string, real: string): void {
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw refused('it leads out of the folder');
}

export function refused(message: string): AppError {
  return new AppError('AGENT_INVALID', message);
}
