export const DAY_MS = 86_400_000;

let last = { number: Number.NaN, text: '' };

/** The day of a time, UTC: `2027-01-31`. @param at epoch ms */
export function dayOf(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== last.number) last = { number, text: new Date(at).toISOString().slice(0, 10) };
  return last.text;
}

/**
 * The time since the epoch in ms, on a clock that never jumps: the wall clock at the start of the process plus the elapsed
 * time. For durations, deadlines and pauses within a process. Stored and displayed times are of the wall clock.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Lateness of a timer, in ms, that shows a suspension of the process or a long block of the event loop. */
const LATE_MS = 500;
/** Lateness of a timer, in ms, that shows that other work blocked the event loop. */
const BLOCKED_MS = 20;

/**
 * Limits the time of work whose result arrives by I/O. After a suspension (SIGSTOP, a paused virtual machine) or while other
 * work blocks the event loop, the result may wait in a socket while the timer is already due. A timer that fires late
 * therefore polls for I/O before it reports the time-out.
 */
export class TimeLimit {
  private timer: NodeJS.Timeout;
  private poll: NodeJS.Immediate | undefined;
  private dueAt: number;

  /**
   * @param ms the limit
   * @param onTimeout called once after the limit; `isLate` if the process could not observe the result in time
   */
  constructor(
    private ms: number,
    private readonly onTimeout: (isLate: boolean) => void,
  ) {
    this.dueAt = steadyNow() + ms;
    this.timer = setTimeout(this.fire, ms);
  }

  /** Starts the time again, by default with the same limit. @param ms the new limit */
  restart(ms = this.ms): void {
    this.dueAt = steadyNow() + ms;
    clearImmediate(this.poll);
    if (ms === this.ms) return void this.timer.refresh();
    this.ms = ms;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.fire, ms);
  }

  clear(): void {
    clearTimeout(this.timer);
    clearImmediate(this.poll);
  }

  unref(): this {
    this.timer.unref();
    return this;
  }

  private readonly fire = (): void => {
    const lateMs = steadyNow() - this.dueAt;
    if (lateMs < BLOCKED_MS) return this.onTimeout(false);
    // Immediates run after the poll for I/O. The second one admits a result of two parts, such as head and body.
    this.poll = setImmediate(() => (this.poll = setImmediate(this.onTimeout, lateMs >= LATE_MS)));
  };
}

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
