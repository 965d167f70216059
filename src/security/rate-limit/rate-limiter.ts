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
