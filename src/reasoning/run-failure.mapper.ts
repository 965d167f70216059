import type { AppError } from '../common/index.js';
import type { RunFailure } from '../run/index.js';

/** An error as the end of a run tells it. */
export function toFailure({ code, message, isRetryable, details }: AppError): RunFailure {
  return { code, message, is_retryable: isRetryable, ...(details && { details }) };
}
