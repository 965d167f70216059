import { AppError, type ErrorCode } from '../common/index.js';
import { missedDeadline } from './deadline.error.js';
import type { StepName } from './run-context.js';
import type { RunRecord } from './run.types.js';

/** The reasons for which a run is not this execution's to end: it goes on elsewhere, or later. */
const REASONS: readonly ErrorCode[] = ['SHUTTING_DOWN', 'RUN_FENCED', 'JOURNAL_UNAVAILABLE'];

/** Whether an execution that was stopped for this reason must leave the run as it is. */
export function isGivenUp({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof AppError && REASONS.includes(reason.code);
}

/** Whether what could not be read now may be read later: the journal is away, or the key of what is stored is not configured. */
export function isReadableLater(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'JOURNAL_UNAVAILABLE' || error.code === 'ENCRYPTION_KEY_UNKNOWN');
}

/** The reason of a run whose journal could not be read or written; it is tried again. */
export function journalUnavailable(runId: string, cause: unknown): AppError {
  return new AppError(
    'JOURNAL_UNAVAILABLE',
    `The journal of run ${runId} is not available; the run goes on when it is.`,
    {
      cause,
      details: { run_id: runId },
    },
  );
}

/** The error of a run that another process has taken over. */
export function fenced(runId: string, cause?: unknown): AppError {
  const message = `Run ${runId} is no longer this process's to write to; it goes on elsewhere.`;
  return new AppError('RUN_FENCED', message, { cause });
}

/**
 * Holds the deadline of a run although its timer is late, as in a process that was frozen or busy: before a step starts,
 * the clock decides. A tool sees the aborted signal, and its call is recorded as not made.
 * @param kind of the step; a model call and a claim do not start
 * @throws AppError `RUN_TIMEOUT`
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
