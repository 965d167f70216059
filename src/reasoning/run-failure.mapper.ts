import type { AppError } from '../errors/index.js';
import type { RunFailure } from '../run/event/index.js';

/** Maps an error to the failure in the terminal event of a run. */
export function toFailure({ code, message, isRetryable, details }: AppError): RunFailure {
  return { code, message, is_retryable: isRetryable, ...(details && { details }) };
}
