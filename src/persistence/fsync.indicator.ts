import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const PROBES = 5;

/** Median time, in ms, to make 1 KB durable on the disk of a folder: the cost of every commit. */
export function measureFsync(folder: string): number {
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
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}
