import { steadyNow } from './clock.js';

/** Difference between the elapsed times of both clocks that is a jump, in ms; adjustments by NTP are slower. */
const TOLERANCE_MS = 5_000;
/** Time after a jump in which data are not deleted by age, in ms. */
const DISTRUST_MS = 600_000;

/** Compares the wall clock with the monotonic clock: a clock that is wrong for seconds must not delete data by age. */
export class WallClockCheck {
  private wall = Date.now();
  private steady = steadyNow();
  private trustedFrom = 0;

  /**
   * @param onJump called with a jump since the last call, in ms
   * @returns time in which the wall clock is not trusted, in ms
   */
  waitMs(onJump: (jumpMs: number) => void): number {
    const [wall, steady] = [Date.now(), steadyNow()];
    const jumpMs = wall - this.wall - (steady - this.steady);
    this.wall = wall;
    this.steady = steady;
    if (Math.abs(jumpMs) > TOLERANCE_MS) {
      this.trustedFrom = steady + DISTRUST_MS;
      onJump(Math.round(jumpMs));
    }
    return Math.max(0, this.trustedFrom - steady);
  }
}
