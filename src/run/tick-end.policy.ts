/**
 * Runs `work` when the pending promise chains have settled: a step and its events arrive a few promise jobs apart, and
 * belong into one batch.
 */
export function atTickEnd<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    process.nextTick(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Resolves after the current tick, before timers and I/O. */
export function afterThisTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
