import { TimeLimit } from './clock.js';

/**
 * Waits for work until the signal aborts, even if the work itself ignores the signal. Rejects with the signal's reason
 * if it aborts first; the later result of the work is then ignored.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The result of work by I/O, within a limit. After it the work continues, but its result is ignored. @throws the error of `onTimeout` */
export async function withTimeout<T>(ms: number, work: Promise<T>, onTimeout: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limit = new TimeLimit(ms, () => reject(onTimeout()));
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.clear();
  }
}

/** Whether the work succeeds within `ms`. After that time the work continues, but its result is ignored. */
export function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const limit = new TimeLimit(ms, () => resolve(false));
  work.then(
    () => resolve(true),
    () => resolve(false),
  );
  return promise.finally(() => limit.clear());
}

interface Waiter {
  readonly enter: () => void;
}

/** A number of places, and a first-in, first-out queue of waiters. */
export class Semaphore {
  private taken = 0;
  private readonly waiting = new Set<Waiter>();

  constructor(private readonly places: number) {}

  get takenPlaces(): number {
    return this.taken;
  }

  get waiters(): number {
    return this.waiting.size;
  }

  get isFull(): boolean {
    return this.taken >= this.places;
  }

  /**
   * Waits for a place, which the caller must release by `leave`. Rejects with the signal's reason if it aborts first.
   */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.tryEnter()) await this.waitForPlace(signal);
  }

  /** Takes a free place, which the caller must release by `leave`. */
  tryEnter(): boolean {
    if (this.isFull) return false;
    this.taken++;
    return true;
  }

  /** Releases the place to the longest waiter. */
  leave(): void {
    const [next] = this.waiting;
    if (!next) return void this.taken--;
    this.waiting.delete(next);
    next.enter();
  }

  private waitForPlace(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        enter: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      const stop = () => {
        this.waiting.delete(waiter);
        reject(signal!.reason as Error);
      };
      this.waiting.add(waiter);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}
