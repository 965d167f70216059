/** Minimum pause, in ms: bundles deferred work instead of setting a timer for every message. */
const MIN_PAUSE_MS = 25;

/**
 * Rate limit (token bucket) on the input from another program, so that endless input leaves CPU time for other work.
 * A quiet second may be followed by a burst of the same size.
 */
export class IntakePace {
  private left: number;
  private at = performance.now();

  /** @param perSecond in the unit of `take` */
  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** Counts input. @returns pause before the next read, in ms; usually 0 */
  take(amount: number): number {
    const now = performance.now();
    this.left = Math.min(this.perSecond, this.left + ((now - this.at) / 1000) * this.perSecond) - amount;
    this.at = now;
    return this.left >= 0 ? 0 : Math.max(MIN_PAUSE_MS, (-this.left / this.perSecond) * 1000);
  }
}
