import { AppError, type ErrorCode } from '../errors/index.js';
import type { RunRecord } from './run.types.js';

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
