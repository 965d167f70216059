import { AppError } from '../../common/index.js';

export interface BulkheadRules {
  /** Calls at once; 0 is no limit. */
  readonly concurrency: number;
  /** Calls that may wait for their turn. */
  readonly queueLimit: number;
}

interface Waiter {
  readonly enter: () => void;
}

/** Keeps what one provider holds up from holding up everything: so many calls at once, so many that wait, no more. */
export class Bulkhead {
  private running = 0;
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly rules: BulkheadRules,
    /** What the errors call it. */
    private readonly what: string,
  ) {}

  /**
   * Waits for a place, which is to be left.
   * @throws AppError `MODEL_BUSY` when too many wait already; the signal's reason when it is aborted
   */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { concurrency, queueLimit } = this.rules;
    if (concurrency === 0 || this.running < concurrency) {
      this.running++;
      return;
    }
    if (this.waiting.size >= queueLimit) {
      const message = `${this.what} has ${this.running} calls and ${this.waiting.size} that wait, as many as it may; try again later.`;
      throw new AppError('MODEL_BUSY', message, { isRetryable: true });
    }
    await this.turn(signal);
  }

  /** Hands the place on to who waits longest. */
  leave(): void {
    const [next] = this.waiting;
    if (!next) return void this.running--;
    this.waiting.delete(next);
    next.enter();
  }

  private turn(signal?: AbortSignal): Promise<void> {
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
