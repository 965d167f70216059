import { KeyedQueue } from './keyed-queue.js';
import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPTS = 5;
const FIRST_WAIT_MS = 4;
/** Longest wait of a retry for the work of others, in ms: long maintenance must not delay it further. */
const OTHERS_WAIT_MS = 2_000;

/**
 * Retries work after transient failures: deadlocks and failed serializations. Retries run one at a time, each after the
 * work that runs when it starts: otherwise the retry of a deadlock's victim meets the others' locks again, and
 * PostgreSQL takes a second to detect each deadlock.
 */
export class TransientRetry {
  private readonly running = new Set<Promise<unknown>>();
  private readonly retries = new KeyedQueue();

  constructor(private readonly isTransient: (error: unknown) => boolean) {}

  /**
   * @param work must have had no effect when it failed, as a transaction that the server rolled back
   * @throws the error of the fifth attempt, or a permanent error at once
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const first = work();
    this.running.add(first);
    try {
      return await first;
    } catch (error) {
      if (!this.isTransient(error)) throw error;
    } finally {
      this.running.delete(first);
    }
    return this.retries.next('', () => this.retry(work));
  }

  private async retry<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 2; ; attempt++) {
      await this.othersEnd();
      await delay(Math.random() * FIRST_WAIT_MS * 2 ** attempt);
      try {
        return await work();
      } catch (error) {
        if (attempt === ATTEMPTS || !this.isTransient(error)) throw error;
      }
    }
  }

  private async othersEnd(): Promise<void> {
    if (this.running.size === 0) return;
    const limit = new AbortController();
    const late = delay(OTHERS_WAIT_MS, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.running), late]);
    limit.abort();
  }
}
