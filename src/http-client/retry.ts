import { JackdawError } from './jackdaw.error.js';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** A request is not repeated if the server asks for a longer wait, as with a budget of the day. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The server or a proxy has no capacity now, or is restarting. */
const PASSING = new Set([429, 502, 503, 504]);
/** The server has refused the request before it had an effect. */
const REFUSED = new Set([429, 503]);

/**
 * Whether a later repetition of the request can succeed. The failure of a run cannot change.
 * @param isRepeatable whether a second request has no second effect
 */
export function isRetryable(error: unknown, isRepeatable: boolean): error is JackdawError {
  if (!(error instanceof JackdawError) || error.runId !== undefined) return false;
  if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
  if (REFUSED.has(error.status)) return true;
  return isRepeatable && (error.code === 'CONNECTION_FAILED' || PASSING.has(error.status));
}

/** Delay before an attempt, in ms: exponential with jitter, and at least the time that the server requires. @param attempt from 1 */
export function delayOf(attempt: number, error?: JackdawError): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS) * (0.5 + Math.random() / 2);
  return Math.max(delay, error?.retryAfterMs ?? 0);
}

/** Resolves after the time or at an abort, whichever is first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

/** A random key of 32 hexadecimal digits. `randomUUID` is absent from pages without TLS. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
