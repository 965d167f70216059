import { AppError } from '../../errors/index.js';
import { steadyNow } from '../../kernel/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type { CallOptions, ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';

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

const MAX_TOKENS = 50;
const PER_REQUEST = 0.2;
const PER_SUCCESS = 1;

/**
 * Limits the retries to a provider: a retry costs a token, a request earns a fifth of one, a success earns one, and at most
 * 50 are saved. In an outage the retries are at most a fifth of the requests, so that they do not prolong it.
 */
export class RetryBudget {
  private tokens = MAX_TOKENS;

  request(): void {
    this.earn(PER_REQUEST);
  }

  success(): void {
    this.earn(PER_SUCCESS);
  }

  /** Takes the token of a retry. @returns whether there was one */
  take(): boolean {
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }

  private earn(tokens: number): void {
    this.tokens = Math.min(this.tokens + tokens, MAX_TOKENS);
  }
}

/** Waits `ms`. Rejects with the signal's reason if it is aborted. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

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

/** Reports a further request after a failed one. An open circuit has sent no request. */
export function noteRetry({ onRetry }: CallOptions, error: unknown): void {
  if (!(error instanceof AppError && error.code === 'MODEL_CIRCUIT_OPEN')) onRetry?.();
}

/**
 * Waits until the next attempt.
 * @param attempt number of the failed attempt, counted from 1
 * @throws the error itself if there is no further attempt
 */
async function beforeNext(error: unknown, attempt: number, retries: Retries, options: CallOptions): Promise<void> {
  const { signal, deadlineAt } = options;
  if (attempt >= retries.maxAttempts || !mayRetry(error) || signal?.aborted) throw error;
  const delay = retryDelay(error, attempt, retries, Math.random());
  if (delay === null || (deadlineAt !== undefined && steadyNow() + delay >= deadlineAt)) throw error;
  if (!retries.budget.take()) throw error;
  retries.onRetry?.(error);
  await pause(delay, signal);
  noteRetry(options, error);
}

/** Retries failed calls; a stream with emitted parts restarts. */
export class RetryingModel extends ModelWrapper {
  constructor(
    inner: ChatModel,
    private readonly retries: Retries,
  ) {
    super(inner);
  }

  generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    return retried(() => this.inner.generate(request, options), this.retries, options);
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    this.retries.budget.request();
    for (let attempt = 1; ; attempt++) {
      let hasShown = false;
      try {
        for await (const part of this.inner.stream(request, options)) {
          hasShown ||= part.type !== 'finish';
          yield part;
        }
        this.retries.budget.success();
        return;
      } catch (error) {
        await beforeNext(error, attempt, this.retries, options);
        if (hasShown) yield { type: 'restart' };
      }
    }
  }
}
