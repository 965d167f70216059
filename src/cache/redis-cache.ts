import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { messageOf } from '../common/index.js';
import { closeRedisClient } from '../persistence/index.js';
import { Cache } from './cache.js';

/** It is told once in so long that Redis does not answer, in ms. */
const TELL_EVERY_MS = 60_000;

/** A cache in Redis, for all processes that share it. */
export class RedisCache extends Cache {
  private readonly logger = new Logger(RedisCache.name);
  private toldAt = 0;

  /**
   * @param ttlMs how long an entry is kept
   * @param prefix keeps applications apart that share a Redis
   */
  constructor(
    private readonly redis: Redis,
    private readonly ttlMs: number,
    private readonly prefix: string,
  ) {
    super();
  }

  async get(key: string): Promise<string | null> {
    return this.orNothing(() => this.redis.get(this.prefix + key));
  }

  async set(key: string, value: string, ttlMs = this.ttlMs): Promise<void> {
    await this.orNothing(() => this.redis.set(this.prefix + key, value, 'PX', ttlMs));
  }

  async close(): Promise<void> {
    await closeRedisClient(this.redis);
  }

  private async orNothing<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      const now = Date.now();
      if (now - this.toldAt < TELL_EVERY_MS) return null;
      this.toldAt = now;
      this.logger.warn(`The cache does not answer, and what it might hold is asked for anew: ${messageOf(error)}`);
      return null;
    }
  }
}
