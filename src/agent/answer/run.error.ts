import { AppError, ERROR_CODES, type ErrorCode } from '../../errors/index.js';
import type { RunAnswer } from './run-answer.types.js';

/** The error of a failed run: its code, message and run id. */
export function toRunError({ error, run_id, session_id, finish_reason, iterations }: RunAnswer): AppError {
  const { code, message, is_retryable, details } = error ?? {
    code: 'INTERNAL',
    message: 'The run failed.',
    is_retryable: false,
  };
  return new AppError(toErrorCode(code), message, {
    isRetryable: is_retryable,
    details: { ...details, run_id, session_id, finish_reason, is_complete: false, iterations },
  });
}

/** A code that this release does not know becomes `INTERNAL`. */
export function toErrorCode(code: string): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? 'INTERNAL';
}
