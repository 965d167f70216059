import { LRUCache } from 'lru-cache';
import { Cache } from './cache.js';

/** Size of an entry without its two texts, in bytes; measured as heap after a collection, rounded up. */
const ENTRY_BYTES = 300;

interface Entry {
  readonly value: string;
  /** Epoch ms. The library's monotonic clock stops while the machine sleeps. */
  readonly expiresAt: number;
}

/** A cache in this process's memory; evicts the least recently used entry. */
export class MemoryCache extends Cache {
  private readonly entries: LRUCache<string, Entry>;

  /**
   * @param ttlMs time to live of an entry
   * @param maxBytes total size of all entries, two bytes per UTF-16 unit
   */
  constructor(
    private readonly ttlMs: number,
    maxBytes: number,
  ) {
    super();
    this.entries = new LRUCache({
      ttl: ttlMs,
      // Otherwise the age is computed from a cached time that a timer renews.
      ttlResolution: 0,
      maxSize: maxBytes,
      sizeCalculation: ({ value }, key) => 2 * (value.length + key.length) + ENTRY_BYTES,
    });
  }

  async get(key: string): Promise<string | null> {
    const entry = this.entries.get(key);
    return entry && Date.now() < entry.expiresAt ? entry.value : null;
  }

  async set(key: string, value: string, ttlMs = this.ttlMs): Promise<void> {
    this.entries.set(key, { value, expiresAt: Date.now() + ttlMs }, { ttl: ttlMs });
  }

  async close(): Promise<void> {
    this.entries.clear();
  }
}
