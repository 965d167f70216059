import type { AppError } from '../errors/index.js';
import { isOutage, isPatient, type Postponement } from './postponement.policy.js';
import type { RunRecord } from './run.types.js';

/** Limits of the delay until the next attempt, in ms. */
const MIN_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** Largest random part that is added to a delay, as a share of it: postponed runs must not return together. */
const JITTER = 0.25;

/** Decides for one execution of a run whether an outage of its provider postpones it, and until when. */
export class OutagePatience {
  /** Start of the outage, epoch ms; `null` after a recorded step. */
  private since: number | null;

  /** @param patienceMs time for which the run outlasts an outage, in ms */
  constructor(
    private readonly run: Pick<RunRecord, 'isPatient' | 'epoch' | 'deadlineAt' | 'outageSince'>,
    private readonly patienceMs = 0,
  ) {
    this.since = run.outageSince;
  }

  /** A step was recorded, so an earlier outage has ended. */
  renew(): void {
    this.since = null;
  }

  /** Whether the error postpones the run. */
  lasts(error: unknown, now = Date.now()): error is AppError {
    return isOutage(error) && isPatient(this.run) && now - (this.since ?? now) < this.patienceMs;
  }

  /** @throws the outage of a child run if it does not postpone the run */
  check(outage: AppError | undefined): void {
    const lasts: boolean = outage === undefined || this.lasts(outage);
    if (outage && !lasts) throw outage;
  }

  /**
   * Postpones the run for as long as the outage has lasted, within the limits, or as the provider asks, with up to 25 %
   * more. The last attempt is at the deadline of the run, or at the end of its patience.
   * @param random in [0, 1)
   */
  postponement({ code, details }: AppError, now = Date.now(), random = Math.random()): Postponement {
    const since = this.since ?? now;
    const asked = details?.['retry_after_ms'];
    const backoffMs = Math.min(Math.max(now - since, MIN_DELAY_MS), MAX_DELAY_MS / (1 + JITTER));
    const delayMs = Math.max(backoffMs, typeof asked === 'number' ? asked : 0) * (1 + random * JITTER);
    const last = Math.min(since + this.patienceMs, this.run.deadlineAt ?? Infinity);
    return { notBefore: Math.round(Math.min(now + delayMs, last)), since, code };
  }
}
