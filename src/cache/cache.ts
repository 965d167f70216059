/** The port to a cache of texts. What it cannot give is not there: no caller fails for it. */
export abstract class Cache {
  /** `null` when it is not there, too old, or cannot be had now. */
  abstract get(key: string): Promise<string | null>;
  /**
   * Keeps it, or not at all.
   * @param ttlMs how long; by default as long as the cache keeps anything
   */
  abstract set(key: string, value: string, ttlMs?: number): Promise<void>;
  abstract close(): Promise<void>;
}
