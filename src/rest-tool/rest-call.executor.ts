import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../errors/index.js';
import { parseRetryAfter } from '../kernel/index.js';
import type { OutgoingClient, OutgoingReply, OutgoingRequest } from '../security/egress/index.js';
import { outgoingTraceParent } from '../telemetry/index.js';

export interface CallRules {
  /** Maximum retries. */
  readonly retries: number;
  /** Maximum time of all attempts, in ms. */
  readonly timeoutMs: number;
  /** Delays without a `Retry-After` header. */
  readonly pace: RetryPace;
}

/** Exponential backoff. */
export interface RetryPace {
  /** First delay, in ms. */
  readonly delayMs: number;
  /** Factor between successive delays. */
  readonly backoff: number;
  /** Maximum delay, in ms. */
  readonly mostMs: number;
  /** Whether a delay is multiplied by a random number in [0, 1) ("full jitter"). */
  readonly isJittered: boolean;
}

type Attempt = { readonly reply: OutgoingReply } | { readonly error: AppError };

/** Statuses of temporary failures (RFC 9110 15.5 and 15.6, RFC 6585, RFC 8470). */
const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Sends a request with retries: after `Retry-After`, else with exponential backoff, within the call's time limit.
 * @returns the last reply
 * @throws AppError the error of the last attempt
 */
export async function callWithRetries(
  client: OutgoingClient,
  given: OutgoingRequest & { readonly signal: AbortSignal },
  { retries, timeoutMs, pace }: CallRules,
): Promise<OutgoingReply> {
  const traceparent = outgoingTraceParent();
  const request = traceparent === undefined ? given : { ...given, headers: { traceparent, ...given.headers } };
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

/** Delay before the next attempt, in ms; `undefined` without a further attempt. */
function delayBefore(attempt: Attempt, backoff: () => number): number | undefined {
  if ('error' in attempt) return attempt.error.isRetryable ? backoff() : undefined;
  const { status, headers } = attempt.reply;
  if (!TEMPORARY.has(status)) return undefined;
  return parseRetryAfter((name) => headers[name] ?? null) ?? backoff();
}

function delayOf({ delayMs, backoff, mostMs, isJittered }: RetryPace, count: number): number {
  return (isJittered ? Math.random() : 1) * Math.min(delayMs * backoff ** count, mostMs);
}

function settled(attempt: Attempt): OutgoingReply {
  if ('error' in attempt) throw attempt.error;
  return attempt.reply;
}
