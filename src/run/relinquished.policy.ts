import { AppError, type ErrorCode } from '../errors/index.js';
import { missedDeadline } from './deadline.error.js';
import type { StepName } from './run-context.js';
import type { RunRecord } from './run.types.js';

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
