import type { Cron } from 'croner';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';
import type { MissedPolicy, ScheduleTime } from './schedule.store.js';

/** A time that is later than this has been missed, in ms. */
export const MISSED_AFTER_MS = 60_000;
/** Missed times for which `all` starts runs. */
const MOST_MISSED = 100;

/** The times of a schedule, of a cron expression or one time. */
export class ScheduleTimes {
  private constructor(private readonly times: Cron | number) {}

  /** @throws AppError `VALIDATION_FAILED` for an invalid expression or time zone, or one without a time */
  static async of({ cron, at, timeZone }: ScheduleTime): Promise<ScheduleTimes> {
    if (cron === null) return new ScheduleTimes(at ?? 0);
    const { Cron } = await import('croner');
    try {
      // Without a function it starts nothing.
      const times = new Cron(cron, { mode: '5-part', timezone: timeZone, paused: true });
      if (times.nextRun() === null) throw new Error('it has no time');
      return new ScheduleTimes(times);
    } catch (cause) {
      throw invalidCron(cron, timeZone, cause);
    }
  }

  /** The first time after another, epoch ms; `null` without one. */
  after(time: number): number | null {
    if (typeof this.times === 'number') return this.times > time ? this.times : null;
    return this.times.nextRun(new Date(time))?.getTime() ?? null;
  }

  /**
   * The time whose run starts now, and the time after it.
   * @param due the stored time, which has come
   * @returns `at` is `null` if the policy skips all missed times
   */
  resolve(
    due: number,
    now: number,
    policy: MissedPolicy,
  ): { readonly at: number | null; readonly nextAt: number | null } {
    if (now - due < MISSED_AFTER_MS) return { at: due, nextAt: this.after(due) };
    switch (policy) {
      case 'skip':
        // A time of the last minute has not been missed.
        return { at: null, nextAt: this.after(now - MISSED_AFTER_MS) };
      case 'once':
        return { at: this.last(due, now, 1), nextAt: this.after(now) };
      case 'all': {
        const at = this.last(due, now, MOST_MISSED);
        return { at, nextAt: this.after(at) };
      }
    }
  }

  /** The earliest of the last `count` times up to now, but not before `due`. */
  private last(due: number, now: number, count: number): number {
    if (typeof this.times === 'number') return due;
    const times = this.times.previousRuns(count, new Date(now)).map((time) => time.getTime());
    return Math.max(due, times.at(-1) ?? due);
  }
}

function invalidCron(cron: string, timeZone: string, cause: unknown): AppError {
  const isZone = !isTimeZone(timeZone);
  const message = isZone
    ? `timeZone "${timeZone}" is unknown: give an IANA name such as Europe/Berlin`
    : `cron "${cron}" must be five fields (minute, hour, day of month, month, day of week) that have a time, such as "0 9 * * 1-5"`;
  const mistake = isZone
    ? fieldMistake('timeZone', message, 'isTimeZone', timeZone)
    : fieldMistake('cron', message, 'isCron', cron);
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
    cause,
    details: { errors: [mistake] },
  });
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
