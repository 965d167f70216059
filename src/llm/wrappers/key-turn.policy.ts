import { AppError } from '../../errors/index.js';
import { steadyNow } from '../../kernel/index.js';
import type { KeyPool } from './key-pool.policy.js';

/** Cooldown of a rate-limited key without `Retry-After`, in ms. */
const COOL_MS = 10_000;

/** Key rotation of one model: after a rate limit or a rejection, the next key is tried immediately. */
export class KeyTurns {
  constructor(
    /** Shared by all models of the provider. */
    private readonly keys: KeyPool,
    private readonly provider: string,
    private readonly model: string,
  ) {}

  usable(): Iterable<string> {
    return this.keys.usable();
  }

  /**
   * @throws the call's error if the key is not its cause; AppError `MODEL_AUTHENTICATION` or `MODEL_RATE_LIMITED` if no
   * key is left
   */
  async run<T>(call: (key: string) => Promise<T>): Promise<T> {
    let last: unknown;
    for (const key of this.keys.usable()) {
      try {
        return await call(key);
      } catch (error) {
        if (!this.setAside(key, error)) throw error;
        last = error;
      }
    }
    throw this.noKey(last);
  }

  /** @returns whether the key caused the error */
  setAside(key: string, error: unknown): boolean {
    if (!(error instanceof AppError)) return false;
    if (error.code === 'MODEL_AUTHENTICATION') {
      if (!isForbidden(error)) this.keys.retire(key);
      return true;
    }
    if (error.code !== 'MODEL_RATE_LIMITED') return false;
    const retryAfterMs = error.details?.['retry_after_ms'];
    this.keys.cool(key, typeof retryAfterMs === 'number' ? retryAfterMs : COOL_MS);
    return true;
  }

  /** Error of a call without a usable key. */
  noKey(cause: unknown): AppError {
    if (isForbidden(cause)) return cause;
    const { provider, model } = this;
    const next = this.keys.nextAt();
    if (next === null) {
      const message = `Every API key of the provider ${provider} was refused; give others.`;
      return new AppError('MODEL_AUTHENTICATION', message, { cause, details: { provider, model } });
    }
    const retryMs = Math.max(next - steadyNow(), 1);
    const message = `Every API key of the provider ${provider} is rate limited; try again in ${Math.ceil(retryMs / 1000)} s.`;
    return new AppError('MODEL_RATE_LIMITED', message, {
      isRetryable: true,
      cause,
      details: { provider, model, retry_after_ms: retryMs },
    });
  }
}

/** A valid key without permission for the request: one request's model must not retire all keys. */
function isForbidden(error: unknown): error is AppError {
  return error instanceof AppError && error.details?.['provider_status'] === 403;
}
