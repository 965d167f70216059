const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** A connection that lasted so long was a good one, in ms. */
const GOOD_MS = 30_000;

/** How long to wait before a connection is made again: twice as long each time, up to a minute. */
export class RetryDelay {
  private failures = 0;

  /**
   * @param lastedMs how long the connection was there; 0 when it was not made
   * @param chance from 0 up to 1: many servers are not to be tried at the same moment
   */
  next(lastedMs: number, chance = Math.random()): number {
    if (lastedMs > GOOD_MS) this.failures = 0;
    return Math.min(FIRST_MS * 2 ** this.failures++, LONGEST_MS) * (0.5 + chance / 2);
  }
}
