import { AppError } from '../../common/index.js';

export interface RetryRules {
  /** How often a call is made at most, counted from 1. */
  readonly maxAttempts: number;
  /** The longest delay before the second attempt, in ms; it doubles with each further one. */
  readonly baseDelayMs: number;
  /** The longest delay of all, in ms; also of what a provider asks for. */
  readonly maxDelayMs: number;
}

/**
 * How long to wait before the next attempt, in ms: what the provider asks for (`Retry-After`), else exponential backoff
 * with full jitter, a random time between 0 and the doubled delay (AWS Architecture Blog, "Exponential Backoff And Jitter").
 * @param attempt the one that failed, counted from 1
 * @param random in [0, 1)
 */
export function retryDelay(error: AppError, attempt: number, rules: RetryRules, random: number): number {
  const asked = error.details?.['retry_after_ms'];
  if (typeof asked === 'number') return Math.min(asked, rules.maxDelayMs);
  return Math.floor(random * Math.min(rules.baseDelayMs * 2 ** (attempt - 1), rules.maxDelayMs));
}

/** Whether the same call may come to another end: what was refused, and what nobody asked the provider, does not. */
export function mayRetry(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    error.isRetryable &&
    error.code.startsWith('MODEL_') &&
    error.code !== 'MODEL_CIRCUIT_OPEN'
  );
}
