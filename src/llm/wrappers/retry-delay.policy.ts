import { AppError } from '../../errors/index.js';

export interface RetryRules {
  /** Maximum attempts, the first one included. */
  readonly maxAttempts: number;
  /** Maximum delay before the second attempt, in ms; doubles with each further attempt. */
  readonly baseDelayMs: number;
  /** Maximum delay, in ms. A longer `Retry-After` is not awaited. */
  readonly maxDelayMs: number;
}

/** Callers that a provider limits together must not return together: a random part of this share is added. */
const JITTER = 0.25;

/**
 * Delay before the next attempt, in ms: the provider's `Retry-After` with up to 25 % more, else exponential backoff with full
 * jitter, a random time between 0 and the doubled delay (AWS Architecture Blog, "Exponential Backoff And Jitter"). `null` if
 * the provider asks for more than `maxDelayMs`.
 * @param attempt number of the failed attempt, counted from 1
 * @param random in [0, 1)
 */
export function retryDelay(error: AppError, attempt: number, rules: RetryRules, random: number): number | null {
  const retryAfterMs = error.details?.['retry_after_ms'];
  if (typeof retryAfterMs !== 'number')
    return Math.floor(random * Math.min(rules.baseDelayMs * 2 ** (attempt - 1), rules.maxDelayMs));
  return retryAfterMs > rules.maxDelayMs ? null : Math.ceil(retryAfterMs * (1 + random * JITTER));
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
