import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';

/** Maximum calls in a window that starts with its first call. */
export interface RateLimit {
  /** Name of the counter; at most 64 characters. */
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

export type RateVerdict =
  | { readonly kind: 'admitted' }
  /** `limit` is reached until `resetsAt`, epoch ms. */
  | { readonly kind: 'limited'; readonly limit: RateLimit; readonly resetsAt: number };

/** The port to the store of rate limits. Counting is atomic: concurrent callers never exceed a limit. */
export abstract class RateLimiter {
  /**
   * Counts one call in all limits, or in none if one of them is reached.
   * @throws the store's error if it is unavailable
   */
  abstract admit(limits: readonly RateLimit[]): Promise<RateVerdict>;
  abstract close(): Promise<void>;
}

/** Creates a limiter of `points` per `seconds`. */
export type LimiterFactory = (points: number, seconds: number) => RateLimiterAbstract;

/** Counts calls with rate-limiter-flexible: in this process, or atomically in Redis. */
export class FlexibleRateLimiter extends RateLimiter {
  /** Keyed by `calls/windowMs`; each limiter separates the limits by their keys. */
  private readonly limiters = new Map<string, RateLimiterAbstract>();

  constructor(
    private readonly create: LimiterFactory,
    private readonly end: () => Promise<void> = async () => undefined,
  ) {
    super();
  }

  async admit(limits: readonly RateLimit[]): Promise<RateVerdict> {
    for (const [at, limit] of limits.entries()) {
      const resetsAt = await this.consume(limit);
      if (resetsAt === null) continue;
      // The call is refused: undo its count in the other limits.
      await Promise.all(limits.slice(0, at).map((one) => this.limiterOf(one).reward(one.key)));
      return { kind: 'limited', limit, resetsAt };
    }
    return { kind: 'admitted' };
  }

  close(): Promise<void> {
    return this.end();
  }

  /** @returns time of the next free place, epoch ms; `null` if the call was counted */
  private async consume(limit: RateLimit): Promise<number | null> {
    try {
      await this.limiterOf(limit).consume(limit.key);
      return null;
    } catch (error) {
      if (!isResult(error)) throw error;
      return Date.now() + error.msBeforeNext;
    }
  }

  private limiterOf({ calls, windowMs }: RateLimit): RateLimiterAbstract {
    const name = `${calls}/${windowMs}`;
    let limiter = this.limiters.get(name);
    if (!limiter) this.limiters.set(name, (limiter = this.create(calls, windowMs / 1000)));
    return limiter;
  }
}

/** The library rejects with a result if the limit is reached, with an `Error` if the store is unavailable. */
function isResult(error: unknown): error is RateLimiterRes {
  return !(error instanceof Error) && typeof (error as Partial<RateLimiterRes>).msBeforeNext === 'number';
}
