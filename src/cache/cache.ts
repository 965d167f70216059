/** The port to a cache of texts. An unavailable cache counts as a miss: it never fails its caller. */
export abstract class Cache {
  /** `null` if the entry is missing, expired or unavailable. */
  abstract get(key: string): Promise<string | null>;
  /**
   * Stores a value, if the cache is available.
   * @param ttlMs time to live; by default the cache's own
   */
  abstract set(key: string, value: string, ttlMs?: number): Promise<void>;
  abstract close(): Promise<void>;
}
