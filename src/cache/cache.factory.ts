import type { CacheConfig, DatabaseConfig } from '../config/index.js';
import { createRedisClient } from '../persistence/index.js';
import { Cache } from './cache.js';
import { MemoryCache } from './memory-cache.js';

/** Time-out of Redis commands, in ms; a slower cache is useless. */
const REDIS_TIMEOUT_MS = 500;

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
    createRedisClient(url, REDIS_TIMEOUT_MS),
    import('./redis-cache.js'),
  ]);
  await client.connect().catch(() => undefined);
  return new RedisCache(client, ttlMs, 'jackdaw:cache:');
}
