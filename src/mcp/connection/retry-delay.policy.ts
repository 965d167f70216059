const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** A connection of at least this duration resets the delay, in ms. */
const GOOD_MS = 30_000;

/** Delay before the next connection attempt: doubles each time, up to a minute. */
export class RetryDelay {
  private failures = 0;

  /**
   * @param lastedMs duration of the last connection; 0 if it failed
   * @param chance from 0 up to 1; spreads the attempts of many servers
   */
  next(lastedMs: number, chance = Math.random()): number {
    if (lastedMs > GOOD_MS) this.failures = 0;
    return Math.min(FIRST_MS * 2 ** this.failures++, LONGEST_MS) * (0.5 + chance / 2);
  }
}
