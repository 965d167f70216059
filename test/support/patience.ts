/** Time for a process, a page or a message on a busy machine, in ms: far less than a test may take. */
export const PATIENCE_MS = 300_000;

/** Rejects with the present state if the work takes longer than `PATIENCE_MS`, so that a test that hangs names the missing event. */
export async function inTime<T>(work: Promise<T>, state: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Not within ${PATIENCE_MS} ms: ${state()}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
