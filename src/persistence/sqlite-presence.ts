import { stat, statSync } from 'node:fs';

const CHECK_MS = 1_000;
const GONE = ['ENOENT', 'ENOTDIR'];

/**
 * Calls `onLoss` when the file of an open database was removed or replaced: SQLite would write on into the removed file.
 * @returns a function that ends the check
 */
export function watchPresence(file: string, onLoss: () => void): () => void {
  const { ino } = statSync(file, { bigint: true });
  const timer = setInterval(() => {
    stat(file, { bigint: true }, (error, found) => {
      const isLost = error ? GONE.includes(error.code ?? '') : found.ino !== ino;
      if (!isLost) return;
      clearInterval(timer);
      onLoss();
    });
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}
