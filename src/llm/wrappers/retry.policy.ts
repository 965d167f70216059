import type { CallOptions } from '../chat.types.js';
import { pause } from './pause.policy.js';
import { mayRetry, retryDelay, type RetryRules } from './retry-delay.policy.js';

/** Makes a call again as long as it may come to another end. @throws what the last attempt has thrown */
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
 * Waits until it is time for the next attempt.
 * @param attempt the one that failed, counted from 1
 * @throws what it has thrown, when there is no next one
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
