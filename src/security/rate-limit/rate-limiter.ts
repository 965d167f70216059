/** So many calls in a window that begins with the first of them. */
export interface RateLimit {
  /** What is counted; at most 64 characters. */
  readonly key: string;
  readonly calls: number;
  readonly windowMs: number;
}

export type RateVerdict =
  | { readonly kind: 'admitted' }
  /** `limit` has no room until `resetsAt`, epoch ms. */
  | { readonly kind: 'limited'; readonly limit: RateLimit; readonly resetsAt: number };

/** The port to where calls are counted. However many ask at once, no limit admits more than its number in a window. */
export abstract class RateLimiter {
  /**
   * Counts one call in every one of the limits, or lets it be limited by the first that has no room.
   * @throws what the store throws when it does not answer
   */
  abstract admit(limits: readonly RateLimit[]): Promise<RateVerdict>;
  abstract close(): Promise<void>;
}
