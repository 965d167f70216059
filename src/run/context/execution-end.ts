import { AppError, type ErrorCode } from '../../errors/index.js';
import type { StepName } from './run-context.js';
import type { RunRecord } from '../run.types.js';

/** Error of an execution that exceeded its time limit, in ms. */
export function tookTooLong(timeoutMs: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run took longer than its limit of ${timeoutMs} ms.`);
}

/** Error of a run that did not end by its deadline, in epoch ms. */
export function missedDeadline(deadlineAt: number): AppError {
  return new AppError('RUN_TIMEOUT', `The run did not end by its deadline, ${new Date(deadlineAt).toISOString()}.`);
}

/**
 * Runs `work` when the pending promise chains have settled: a step and its events arrive a few promise jobs apart, and
 * belong into one batch.
 */
export function atTickEnd<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    process.nextTick(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** Resolves after the current tick, before timers and I/O. */
export function afterThisTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Abort reasons after which this execution must not end the run: another execution or a later one continues it. */
const REASONS: readonly ErrorCode[] = ['SHUTTING_DOWN', 'RUN_FENCED', 'JOURNAL_UNAVAILABLE'];

/** True if the execution was aborted for a reason that leaves the run unfinished. */
export function isRelinquished({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof AppError && REASONS.includes(reason.code);
}

/** Codes of errors after which a later read may succeed: the database is unavailable, or the data's key is not configured. */
const READABLE_LATER: readonly ErrorCode[] = ['JOURNAL_UNAVAILABLE', 'STORAGE_UNAVAILABLE', 'ENCRYPTION_KEY_UNKNOWN'];

/** True if a later read may succeed. */
export function isReadableLater(error: unknown): boolean {
  return error instanceof AppError && READABLE_LATER.includes(error.code);
}

/** Error of a run whose journal cannot be read or written; the run is retried. */
export function journalUnavailable(runId: string, cause: unknown): AppError {
  return new AppError(
    'JOURNAL_UNAVAILABLE',
    `The journal of run ${runId} is unavailable; the run resumes when it is available.`,
    {
      cause,
      details: { run_id: runId },
    },
  );
}

/** Error of a run that another process has claimed. */
export function fenced(runId: string, cause?: unknown): AppError {
  const message = `This process no longer owns run ${runId}; another process continues it.`;
  return new AppError('RUN_FENCED', message, { cause });
}

/**
 * Enforces the deadline by the clock before a step starts, as the timer is late in a frozen or busy process. A model
 * call or a claim does not start. A tool receives the aborted signal, and its call is recorded as not made.
 * @param kind of the step
 * @throws AppError `RUN_TIMEOUT` for a model call and a claim
 */
export function abortLate(
  { deadlineAt }: Pick<RunRecord, 'deadlineAt'>,
  controller: AbortController,
  kind: StepName['kind'],
): void {
  if (deadlineAt === null || Date.now() < deadlineAt) return;
  controller.abort(missedDeadline(deadlineAt));
  if (kind === 'model' || kind === 'claim') controller.signal.throwIfAborted();
}

/** Crashes since the last recorded step after which a run is not retried. */
export const MAX_CRASHES = 3;

export function cancelled(): AppError {
  return new AppError('RUN_CANCELLED', 'The run was cancelled.');
}

/** The earlier limit: that of one execution, or the run's deadline. */
export function timeLimit({ timeoutMs, deadlineAt }: RunRecord): { ms: number; error: () => AppError } {
  const leftMs = deadlineAt === null ? Number.POSITIVE_INFINITY : deadlineAt - Date.now();
  if (leftMs > timeoutMs) {
    return { ms: timeoutMs, error: () => tookTooLong(timeoutMs) };
  }
  return { ms: Math.max(leftMs, 0), error: () => missedDeadline(deadlineAt!) };
}

/** Aborts an execution that must only close its turn. */
export function abortUnstartable(run: RunRecord, controller: AbortController): void {
  if (run.cancelRequestedAt !== null) controller.abort(cancelled());
  if (run.attempts >= MAX_CRASHES) controller.abort(poisoned(run));
}

/** Permissions that were revoked while a run was not running stay revoked. */
export function revoked({ principal }: RunRecord): AppError {
  return new AppError(
    'FORBIDDEN',
    `The permissions of "${principal.id}", who started the run, were revoked; the run is stopped.`,
  );
}

function poisoned({ attempts }: RunRecord): AppError {
  return new AppError(
    'RUN_POISONED',
    `The server crashed ${attempts} times during the same step of this run; the run is not retried.`,
  );
}

export function isHandedOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof AppError && reason.code === 'SHUTTING_DOWN';
}

/** Errors of a provider that is unavailable or limits its requests. A rejected key or an exhausted quota is not retryable. */
const OUTAGES: readonly ErrorCode[] = [
  'MODEL_RATE_LIMITED',
  'MODEL_TIMEOUT',
  'MODEL_UNREACHABLE',
  'MODEL_UNAVAILABLE',
  'MODEL_CIRCUIT_OPEN',
  'MODEL_BUSY',
];

/** A postponed run as stored. Times are epoch ms. */
export interface Postponement {
  /** Time of the next attempt. */
  readonly notBefore: number;
  /** Start of the outage. */
  readonly since: number;
  readonly code: ErrorCode;
}

/** Whether an error means that the provider is unavailable or limits its requests, so that a later attempt may succeed. */
export function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && error.isRetryable && OUTAGES.includes(error.code);
}

/**
 * Whether no client waits for the end of the run: it was started in the background or by such a run, it is a workflow, or
 * an earlier execution of it has ended.
 */
export function isPatient({ isPatient: isBackground, epoch }: Pick<RunRecord, 'isPatient' | 'epoch'>): boolean {
  return isBackground || epoch > 1;
}

/** Whether the run waits for the end of an outage. A cancelled run does not wait: it closes its turn. */
export function isPostponed(
  { status, notBefore, cancelRequestedAt }: Pick<RunRecord, 'status' | 'notBefore' | 'cancelRequestedAt'>,
  now = Date.now(),
): boolean {
  return status === 'queued' && notBefore !== null && notBefore > now && cancelRequestedAt === null;
}

/** The error of a run whose child run is postponed. */
export function outageOf({ id, outageCode, notBefore }: RunRecord, now = Date.now()): AppError {
  return new AppError(outageCode as ErrorCode, `The provider of run "${id}" is unavailable (${outageCode}).`, {
    isRetryable: true,
    details: { retry_after_ms: Math.max((notBefore ?? now) - now, 0), run_id: id },
  });
}

/** The state of a queued run that is postponed; wire form. */
export function queuedState({
  status,
  notBefore,
  outageCode,
}: Pick<RunRecord, 'status' | 'notBefore' | 'outageCode'>): {
  readonly queued_reason?: string;
  readonly next_attempt_at?: number;
} {
  if (status !== 'queued' || notBefore === null) return {};
  return { queued_reason: `provider unavailable: ${outageCode ?? 'MODEL_ERROR'}`, next_attempt_at: notBefore };
}

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
