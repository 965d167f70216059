import { AppError } from '../../errors/index.js';

export interface RetryRules {
  /** Maximum attempts, the first one included. */
  readonly maxAttempts: number;
  /** Maximum delay before the second attempt, in ms; doubles with each further attempt. */
  readonly baseDelayMs: number;
  /** Maximum delay, in ms; also limits the provider's `Retry-After`. */
  readonly maxDelayMs: number;
}

/**
 * Delay before the next attempt, in ms: the provider's `Retry-After`, else exponential backoff with full jitter, a
 * random time between 0 and the doubled delay (AWS Architecture Blog, "Exponential Backoff And Jitter").
 * @param attempt number of the failed attempt, counted from 1
 * @param random in [0, 1)
 */
export function retryDelay(error: AppError, attempt: number, rules: RetryRules, random: number): number {
  const retryAfterMs = error.details?.['retry_after_ms'];
  if (typeof retryAfterMs === 'number') return Math.min(retryAfterMs, rules.maxDelayMs);
  return Math.floor(random * Math.min(rules.baseDelayMs * 2 ** (attempt - 1), rules.maxDelayMs));
}

/** Whether a retry may succeed. Rejected requests and open circuits are not retried. */
export function mayRetry(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    error.isRetryable &&
    error.code.startsWith('MODEL_') &&
    error.code !== 'MODEL_CIRCUIT_OPEN'
  );
}
