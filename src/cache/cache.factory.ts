import type { AppConfig } from '../config/index.js';
import { createRedisClient } from '../persistence/index.js';
import { Cache } from './cache.js';
import { MemoryCache } from './memory-cache.js';

/** Longer than this nobody waits for a cache, in ms. */
const REDIS_TIMEOUT_MS = 500;

/** The cache that is configured; `null` when none is. */
export async function openCache({ cache, redis }: AppConfig): Promise<Cache | null> {
  const ttlMs = cache.ttlSeconds * 1000;
  switch (cache.kind) {
    case 'off':
      return null;
    case 'memory':
      return new MemoryCache(ttlMs, cache.maxBytes);
    case 'redis':
      return openRedis(redis.url!, ttlMs);
  }
}

/** One that is away now may be there later. */
async function openRedis(url: string, ttlMs: number): Promise<Cache> {
  const [client, { RedisCache }] = await Promise.all([
    createRedisClient(url, REDIS_TIMEOUT_MS),
    import('./redis-cache.js'),
  ]);
  await client.connect().catch(() => undefined);
  return new RedisCache(client, ttlMs, 'jackdaw:cache:');
}
