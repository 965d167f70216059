import { Cache } from './cache.js';
import type { Redis } from 'ioredis';
import { closeRedisClient } from '../persistence/index.js';

/** A cache in Redis, shared by processes. */
export class RedisCache extends Cache {
  /**
   * @param ttlMs time to live of an entry
   * @param prefix separates applications that share a Redis
   */
  constructor(
    private readonly redis: Redis,
    private readonly ttlMs: number,
    private readonly prefix: string,
  ) {
    super();
  }

  get(key: string): Promise<string | null> {
    return this.redis.get(this.prefix + key);
  }

  async set(key: string, value: string, ttlMs = this.ttlMs): Promise<void> {
    await this.redis.set(this.prefix + key, value, 'PX', ttlMs);
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }
}
