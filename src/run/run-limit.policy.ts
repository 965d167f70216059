import { AppError } from '../errors/index.js';
import { missedDeadline, tookTooLong } from './deadline.error.js';
import type { RunRecord } from './run.types.js';

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
