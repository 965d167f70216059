import { AppError } from '../../common/index.js';

/** What must not be called. `what` says what and why not. */
export function refused(what: string): AppError {
  return new AppError('OUTGOING_REFUSED', what);
}

/** What was called and went wrong on the way; the same call may do better. */
export function failed(what: string, cause?: unknown): AppError {
  return new AppError('OUTGOING_FAILED', what, { isRetryable: true, cause });
}

/** What took longer than it may; the same call may do better. */
export function tookTooLong(what: string): AppError {
  return new AppError('OUTGOING_TIMEOUT', what, { isRetryable: true });
}

/** A reply that is not taken, however often it is asked for. */
export function notTaken(what: string, cause?: unknown): AppError {
  return new AppError('OUTGOING_FAILED', what, { cause });
}
