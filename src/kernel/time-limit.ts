import { steadyNow } from './clock.js';

/** Lateness of a timer, in ms, that shows a suspension of the process or a blocked event loop. */
const LATE_MS = 500;

/**
 * Limits the time of work whose result arrives by I/O. After a suspension (SIGSTOP, a paused virtual machine, a blocked
 * event loop) the result may wait in a socket while the timer is already due. A timer that fires late therefore polls
 * for I/O before it reports the time-out.
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
    if (steadyNow() - this.dueAt < LATE_MS) return this.onTimeout(false);
    // Immediates run after the poll for I/O. The second one admits a result of two parts, such as head and body.
    this.poll = setImmediate(() => (this.poll = setImmediate(this.onTimeout, true)));
  };
}
