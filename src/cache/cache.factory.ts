import { LRUCache } from 'lru-cache';
import type { CacheConfig, DatabaseConfig, SecurityConfig } from '../config/namespaces/index.js';
import { AppError, Log, messageOf } from '../errors/index.js';
import { withTimeout } from '../kernel/index.js';
import { createRedisClient } from '../persistence/index.js';
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

/** Time limit of an operation, in ms; a slower cache is useless. */
const CACHE_TIMEOUT_MS = 500;
/** Minimum interval between warnings, in ms. */
const WARNING_INTERVAL_MS = 60_000;

/** Makes an unavailable or slow cache count as a miss. */
class GuardedCache extends Cache {
  private readonly logger = new Log('Cache');
  private warnedAt = -Infinity;

  /** @param name name of the cache in warnings */
  constructor(
    private readonly cache: Cache,
    private readonly name: string,
  ) {
    super();
  }

  async get(key: string): Promise<string | null> {
    const found: unknown = await this.orNull(() => this.cache.get(key));
    return typeof found === 'string' ? found : null;
  }

  async set(key: string, value: string, ttlMs?: number): Promise<void> {
    await this.orNull(() => this.cache.set(key, value, ttlMs));
  }

  async close(): Promise<void> {
    await this.cache.close();
  }

  private async orNull<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      // An own cache in JavaScript may throw, or return a value without a promise.
      const operation = (async () => work())();
      return await withTimeout(CACHE_TIMEOUT_MS, operation, () => new Error(`no answer in ${CACHE_TIMEOUT_MS} ms`));
    } catch (error) {
      const now = performance.now();
      if (now - this.warnedAt < WARNING_INTERVAL_MS) return null;
      this.warnedAt = now;
      this.logger.warn(`${this.name} unavailable; treating entries as missing: ${messageOf(error)}`);
      return null;
    }
  }
}

/** Token of the application's own cache; `null` without one. */
export const OWN_CACHE = Symbol('OWN_CACHE');

/** The configured cache; `null` if none is configured. */
export async function openCache(cache: CacheConfig, { redisUrl }: DatabaseConfig): Promise<Cache | null> {
  const ttlMs = cache.ttlSeconds * 1000;
  switch (cache.kind) {
    case 'off':
      return null;
    case 'memory':
      return new MemoryCache(ttlMs, cache.maxBytes);
    case 'redis':
      return openRedis(redisUrl!, ttlMs);
  }
}

/** An unreachable Redis may be reachable later, so a failed connection is ignored. */
async function openRedis(url: string, ttlMs: number): Promise<Cache> {
  const [client, { RedisCache }] = await Promise.all([
    createRedisClient(url, CACHE_TIMEOUT_MS),
    import('./redis-cache.js'),
  ]);
  await client.connect().catch(() => undefined);
  return new GuardedCache(new RedisCache(client, ttlMs, 'jackdaw:cache:'), 'Redis cache');
}

/**
 * The application's own cache, or the configured one.
 * @throws AppError `CONFIG_INVALID` for an own cache, which receives plain text, with encryption at rest
 */
export async function chooseCache(
  cache: CacheConfig,
  database: DatabaseConfig,
  { encryption }: SecurityConfig,
  own: Cache | null,
): Promise<Cache | null> {
  if (!own) return openCache(cache, database);
  if (encryption.keys.length > 0) {
    const message = 'The option `cache` stores replies unencrypted, and ENCRYPTION_KEYS is set: use LLM_CACHE=memory.';
    throw new AppError('CONFIG_INVALID', message);
  }
  return new GuardedCache(own, own.constructor.name);
}
