import { AppError } from '../../errors/index.js';

/** A forbidden call. @param what destination and reason */
export function refused(what: string): AppError {
  return new AppError('OUTGOING_REFUSED', what);
}

/** A call that failed in transport; retryable. */
export function failed(what: string, cause?: unknown): AppError {
  return new AppError('OUTGOING_FAILED', what, { isRetryable: true, cause });
}

/** A call that exceeded a time limit; retryable. */
export function tookTooLong(what: string): AppError {
  return new AppError('OUTGOING_TIMEOUT', what, { isRetryable: true });
}

/** An unacceptable reply; not retryable. */
export function notTaken(what: string, cause?: unknown): AppError {
  return new AppError('OUTGOING_FAILED', what, { cause });
}
