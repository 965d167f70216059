import { steadyNow } from '../../kernel/index.js';
import type { CallOptions } from '../chat.types.js';
import { pause } from './pause.policy.js';
import type { RetryBudget } from './retry-budget.policy.js';
import { mayRetry, retryDelay, type RetryRules } from './retry-delay.policy.js';

export interface Retries extends RetryRules {
  /** The retries that all requests to the provider may spend together. */
  readonly budget: RetryBudget;
  /** Receives the error of each failed attempt that is repeated. */
  readonly onRetry?: (error: unknown) => void;
}

/** Retries a call after retryable errors. @throws the error of the last attempt */
export async function retried<T>(call: () => Promise<T>, retries: Retries, options: CallOptions): Promise<T> {
  retries.budget.request();
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await call();
      retries.budget.success();
      return result;
    } catch (error) {
      await beforeNext(error, attempt, retries, options);
    }
  }
}

/**
 * Waits until the next attempt.
 * @param attempt number of the failed attempt, counted from 1
 * @throws the error itself if there is no further attempt
 */
export async function beforeNext(
  error: unknown,
  attempt: number,
  retries: Retries,
  { signal, deadlineAt }: CallOptions,
): Promise<void> {
  if (attempt >= retries.maxAttempts || !mayRetry(error) || signal?.aborted) throw error;
  const delay = retryDelay(error, attempt, retries, Math.random());
  if (delay === null || (deadlineAt !== undefined && steadyNow() + delay >= deadlineAt)) throw error;
  if (!retries.budget.take()) throw error;
  retries.onRetry?.(error);
  await pause(delay, signal);
}
