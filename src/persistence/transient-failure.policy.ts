import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPTS = 5;
const FIRST_WAIT_MS = 4;

/**
 * Retries work after transient failures, with a random delay. The work must have had no effect when it failed, e.g. a
 * transaction that the server rolled back.
 */
export async function retryTransient<T>(work: () => Promise<T>, isTransient: (error: unknown) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
    }
    await delay(Math.random() * FIRST_WAIT_MS * 2 ** attempt);
  }
}
