import type { CallOptions } from '../chat.types.js';
import { pause } from './pause.policy.js';
import { mayRetry, retryDelay, type RetryRules } from './retry-delay.policy.js';

/** Retries a call after retryable errors. @throws the error of the last attempt */
export async function retried<T>(call: () => Promise<T>, rules: RetryRules, options: CallOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      await beforeNext(error, attempt, rules, options);
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
  rules: RetryRules,
  { signal, deadlineAt }: CallOptions,
): Promise<void> {
  if (attempt >= rules.maxAttempts || !mayRetry(error) || signal?.aborted) throw error;
  const delay = retryDelay(error, attempt, rules, Math.random());
  if (deadlineAt !== undefined && Date.now() + delay >= deadlineAt) throw error;
  await pause(delay, signal);
}
