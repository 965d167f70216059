/**
 * The port to a cache of texts. A key has at most 200 ASCII characters. Jackdaw treats an operation that fails, or that
 * takes longer than 500 ms, as a miss, and logs at most one warning a minute.
 */
export abstract class Cache {
  /** The stored value, unchanged; `null` if the entry is missing or expired. */
  abstract get(key: string): Promise<string | null>;
  /**
   * Stores a value, and replaces the previous value of the key.
   * @param ttlMs time to live, in ms; by default the cache's own
   */
  abstract set(key: string, value: string, ttlMs?: number): Promise<void>;
  /** Called once, at the end of the application. */
  abstract close(): Promise<void>;
}
