import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { RateLimiter, type RateLimit, type RateVerdict } from './rate-limiter.js';

/** Makes a limiter of so many points in so many seconds. */
export type LimiterFactory = (points: number, seconds: number) => RateLimiterAbstract;

/** Counts where rate-limiter-flexible counts: in this process, or in Redis, atomically. */
export class FlexibleRateLimiter extends RateLimiter {
  /** By their numbers; the keys are apart by themselves. */
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
      // The call is not made, so it counts nowhere.
      await Promise.all(limits.slice(0, at).map((one) => this.limiterOf(one).reward(one.key)));
      return { kind: 'limited', limit, resetsAt };
    }
    return { kind: 'admitted' };
  }

  close(): Promise<void> {
    return this.end();
  }

  /** @returns when there is room again, epoch ms; `null` when there was */
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

/** The library rejects with a result where there is no room, with an error where the store is away. */
function isResult(error: unknown): error is RateLimiterRes {
  return !(error instanceof Error) && typeof (error as Partial<RateLimiterRes>).msBeforeNext === 'number';
}
