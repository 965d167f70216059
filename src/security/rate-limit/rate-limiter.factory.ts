import type { DatabaseConfig } from '../../config/namespaces/index.js';
import { exportsOf } from '../../errors/index.js';
import { createRedisClient, type Database } from '../../persistence/index.js';
import { DatabaseRateLimiter } from './database-rate-limiter.js';
import type { RateLimiter } from './rate-limiter.js';

/** Time-out of a Redis command, in ms. */
const REDIS_TIMEOUT_MS = 500;
const PREFIX = 'jackdaw:rate';

/** Chooses the store of rate limits: Redis if configured, else the shared database in a cluster, else this process. */
export async function openRateLimiter(
  { redisUrl, isShared }: DatabaseConfig,
  database?: Database,
): Promise<RateLimiter> {
  if (redisUrl !== undefined) return openRedis(redisUrl);
  if (isShared && database) return new DatabaseRateLimiter(database);
  const [{ RateLimiterMemory }, { FlexibleRateLimiter }] = await Promise.all([
    import('rate-limiter-flexible').then(exportsOf),
    import('./rate-limiter.js'),
  ]);
  return new FlexibleRateLimiter(
    (points, duration) => new RateLimiterMemory({ points, duration, keyPrefix: `${PREFIX}:${duration}` }),
  );
}

/** Starts without Redis if it is unavailable; until it answers, `admit` rejects. */
async function openRedis(url: string): Promise<RateLimiter> {
  const [client, { RateLimiterRedis }, { FlexibleRateLimiter }] = await Promise.all([
    createRedisClient(url, REDIS_TIMEOUT_MS),
    import('rate-limiter-flexible').then(exportsOf),
    import('./rate-limiter.js'),
  ]);
  await client.connect().catch(() => undefined);
  return new FlexibleRateLimiter(
    (points, duration) =>
      new RateLimiterRedis({ storeClient: client, points, duration, keyPrefix: `${PREFIX}:${duration}` }),
    async () => void (await client.quit().catch(() => client.disconnect())),
  );
}
