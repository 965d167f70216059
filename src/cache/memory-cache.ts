import { LRUCache } from 'lru-cache';
import { Cache } from './cache.js';

/** What an entry takes beside its two texts, in bytes; measured as heap after a collection, rounded up. */
const ENTRY_BYTES = 300;

interface Entry {
  readonly value: string;
  /** Epoch ms. The library's monotonic clock stops while the machine sleeps. */
  readonly expiresAt: number;
}

/** A cache in this process's memory: what was not asked for longest goes first. */
export class MemoryCache extends Cache {
  private readonly entries: LRUCache<string, Entry>;

  /**
   * @param ttlMs how long an entry is kept
   * @param maxBytes of all entries together, two for each UTF-16 unit
   */
  constructor(
    private readonly ttlMs: number,
    maxBytes: number,
  ) {
    super();
    this.entries = new LRUCache({
      ttl: ttlMs,
      // Otherwise the age is taken from a time that a timer renews.
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
