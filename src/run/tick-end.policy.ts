/**
 * Does it when no chain of promises is on its way: what a step tells and the step itself come some of their ticks apart, and
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

/** Resolves when everything that can happen at once has happened: before timers, input and output. */
export function afterThisTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
