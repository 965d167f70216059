import { isAbsolute, sep } from 'node:path';
import { AppError } from '../../errors/index.js';

/** @throws AppError for a path that is not lexically inside the folder; links are not resolved */
export function assertInner(path: string): void {
  if (path === '' || isAbsolute(path) || /^[A-Za-z]:/.test(path)) throw refused('expected a path inside the folder');
  if (path.split(/[\\/]/).includes('..') || path.includes('\0')) {
    throw refused('expected a path inside the folder, without ..');
  }
}

/**
 * @param root the folder @param real the target; both with links resolved @throws AppError for a target outside of the
 * folder
 */
export function assertInside(root: string, real: string): void {
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw refused('it leads out of the folder');
}

export function refused(message: string): AppError {
  return new AppError('AGENT_INVALID', message);
}
