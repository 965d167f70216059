/** Work that was put off is done in parcels, so that the clock does not ring for every message; in ms. */
const SHORTEST_REST_MS = 25;

/**
 * How much of what a foreign program sends is taken in a second, so that one that sends without an end leaves time for
 * all else. What was saved up in a quiet second may come at once.
 */
export class IntakePace {
  private left: number;
  private at = performance.now();

  /** @param perSecond in whatever unit `take` counts */
  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** Takes so much in. Gives how long nothing more is to be taken, in ms; 0 as a rule. */
  take(amount: number): number {
    const now = performance.now();
    this.left = Math.min(this.perSecond, this.left + ((now - this.at) / 1000) * this.perSecond) - amount;
    this.at = now;
    return this.left >= 0 ? 0 : Math.max(SHORTEST_REST_MS, (-this.left / this.perSecond) * 1000);
  }
}
