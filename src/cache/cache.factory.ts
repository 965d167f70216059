import type { CacheConfig, DatabaseConfig, SecurityConfig } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { createRedisClient } from '../persistence/index.js';
import { Cache } from './cache.js';
import { CACHE_TIMEOUT_MS, GuardedCache } from './guarded-cache.js';
import { MemoryCache } from './memory-cache.js';

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
