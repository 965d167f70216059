import { setTimeout as pause } from 'node:timers/promises';
import { AppError, parseRetryAfter } from '../../common/index.js';
import type { OutgoingClient, OutgoingReply, OutgoingRequest } from '../../security/index.js';

export interface CallRules {
  /** How often it is made again at most. */
  readonly retries: number;
  /** The longest time of all, in ms. */
  readonly timeoutMs: number;
  /** How long it is waited where the server does not say. */
  readonly pace: RetryPace;
}

/** Waits that grow. */
export interface RetryPace {
  /** The first one, in ms. */
  readonly delayMs: number;
  /** By how much each is longer than the one before it. */
  readonly backoff: number;
  /** The longest, in ms. */
  readonly mostMs: number;
  /** Whether a wait is a random part of that ("full jitter"). */
  readonly isJittered: boolean;
}

type Attempt = { readonly reply: OutgoingReply } | { readonly error: AppError };

/** What a server answers that may answer otherwise a moment later (RFC 9110 15.5 and 15.6, RFC 6585, RFC 8470). */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Makes a call, and again as often as it may: after as long as the server asks (`Retry-After`), else with exponential
 * backoff; not when that would take longer than the call has. Gives the last reply.
 * @throws AppError what the last attempt threw
 */
export async function callWithRetries(
  client: OutgoingClient,
  request: OutgoingRequest & { readonly signal: AbortSignal },
  { retries, timeoutMs, pace }: CallRules,
): Promise<OutgoingReply> {
  const end = performance.now() + timeoutMs;
  for (let count = 0; ; count++) {
    const attempt = await attemptOf(client, request, Math.max(1, Math.ceil(end - performance.now())));
    const delay = count < retries ? delayBefore(attempt, () => delayOf(pace, count)) : undefined;
    if (delay === undefined || performance.now() + delay >= end) return settled(attempt);
    await pause(delay, undefined, { signal: request.signal });
  }
}

async function attemptOf(client: OutgoingClient, request: OutgoingRequest, timeoutMs: number): Promise<Attempt> {
  try {
    return { reply: await client.send({ ...request, limits: { ...request.limits, timeoutMs } }) };
  } catch (error) {
    request.signal?.throwIfAborted();
    if (error instanceof AppError) return { error };
    throw error;
  }
}

/** How long to wait before the next attempt, in ms; undefined when there is to be none. */
function delayBefore(attempt: Attempt, backoff: () => number): number | undefined {
  if ('error' in attempt) return attempt.error.isRetryable ? backoff() : undefined;
  const { status, headers } = attempt.reply;
  if (!PASSING.has(status)) return undefined;
  return parseRetryAfter((name) => headers[name] ?? null) ?? backoff();
}

function delayOf({ delayMs, backoff, mostMs, isJittered }: RetryPace, count: number): number {
  return (isJittered ? Math.random() : 1) * Math.min(delayMs * backoff ** count, mostMs);
}

function settled(attempt: Attempt): OutgoingReply {
  if ('error' in attempt) throw attempt.error;
  return attempt.reply;
}
