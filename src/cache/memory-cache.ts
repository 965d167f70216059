import { LRUCache } from 'lru-cache';
import { Cache } from './cache.js';

/** What an entry takes beside its two texts, in bytes; measured as heap after a collection, rounded up. */
const ENTRY_BYTES = 300;

/** A cache in this process's memory: what was not asked for longest goes first. */
export class MemoryCache extends Cache {
  private readonly entries: LRUCache<string, string>;

  /**
   * @param ttlMs how long an entry is kept
   * @param maxBytes of all entries together, two for each UTF-16 unit
   */
  constructor(ttlMs: number, maxBytes: number) {
    super();
    this.entries = new LRUCache({
      ttl: ttlMs,
      maxSize: maxBytes,
      sizeCalculation: (value, key) => 2 * (value.length + key.length) + ENTRY_BYTES,
    });
  }

  async get(key: string): Promise<string | null> {
    return this.entries.get(key) ?? null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    this.entries.set(key, value, ttlMs === undefined ? {} : { ttl: ttlMs });
  }

  async close(): Promise<void> {
    this.entries.clear();
  }
}
