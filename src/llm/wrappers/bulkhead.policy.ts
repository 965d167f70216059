import { AppError, Semaphore } from '../../common/index.js';

export interface BulkheadRules {
  /** Calls at once; 0 is no limit. */
  readonly concurrency: number;
  /** Calls that may wait for their turn. */
  readonly queueLimit: number;
}

/** Keeps what one provider holds up from holding up everything: so many calls at once, so many that wait, no more. */
export class Bulkhead {
  private readonly places: Semaphore;

  constructor(
    private readonly rules: BulkheadRules,
    /** What the errors call it. */
    private readonly what: string,
  ) {
    this.places = new Semaphore(rules.concurrency || Infinity);
  }

  /**
   * Waits for a place, which is to be left; `null` where one is free.
   * @throws AppError `MODEL_BUSY` when too many wait already; the signal's reason when it is aborted
   */
  enter(signal?: AbortSignal): Promise<void> | null {
    signal?.throwIfAborted();
    if (this.places.tryEnter()) return null;
    const { takenPlaces, waiters } = this.places;
    if (waiters >= this.rules.queueLimit) {
      const message = `${this.what} has ${takenPlaces} calls and ${waiters} that wait, as many as it may; try again later.`;
      throw new AppError('MODEL_BUSY', message, { isRetryable: true });
    }
    return this.places.enter(signal);
  }

  /** Makes a call in a place of its own. @throws as `enter`, and what the call throws */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.enter(signal);
    if (turn) await turn;
    try {
      return await call();
    } finally {
      this.leave();
    }
  }

  /** Hands the place on to who waits longest. */
  leave(): void {
    this.places.leave();
  }
}
