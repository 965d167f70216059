import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { messageOf } from '../errors/index.js';
import { closeRedisClient } from '../persistence/index.js';
import { Cache } from './cache.js';

/** Minimum interval between "Redis unavailable" warnings, in ms. */
const WARNING_INTERVAL_MS = 60_000;

/** A cache in Redis, shared by processes. */
export class RedisCache extends Cache {
  private readonly logger = new Logger(RedisCache.name);
  private warnedAt = 0;

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

  async get(key: string): Promise<string | null> {
    return this.orNull(() => this.redis.get(this.prefix + key));
  }

  async set(key: string, value: string, ttlMs = this.ttlMs): Promise<void> {
    await this.orNull(() => this.redis.set(this.prefix + key, value, 'PX', ttlMs));
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }

  private async orNull<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      const now = Date.now();
      if (now - this.warnedAt < WARNING_INTERVAL_MS) return null;
      this.warnedAt = now;
      this.logger.warn(`Redis cache unavailable; treating entries as missing: ${messageOf(error)}`);
      return null;
    }
  }
}
