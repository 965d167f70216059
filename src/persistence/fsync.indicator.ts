import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const PROBES = 5;

/**
 * Median time, in ms, to make 1 KB durable on the disk of a folder: the cost of every commit. `null` under Node's
 * permission model, which forbids fsync; SQLite itself may still do it.
 */
export function measureFsync(folder: string): number | null {
  const path = join(folder, `.fsync-probe-${process.pid}`);
  const file = openSync(path, 'w');
  try {
    const times = Array.from({ length: PROBES }, () => {
      writeSync(file, Buffer.alloc(1024));
      const from = performance.now();
      fsyncSync(file);
      return performance.now() - from;
    });
    return times.toSorted((a, b) => a - b)[PROBES >> 1]!;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error;
    return null;
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}
