import { choice, integer } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';

/** The cache of model replies. */
export const cacheConfig = namespace(
  'jackdaw.cache',
  'Cache of model replies',
  {
    LLM_CACHE: choice(['off', 'memory', 'redis'])
      .default('off')
      .describe('Cache of replies to requests at temperature 0: `off`, `memory`, or `redis` (at `REDIS_URL`)'),
    LLM_CACHE_TTL_SECONDS: integer(1, 31_536_000, 's').default(3600).describe('Lifetime of a cached reply, in seconds'),
    LLM_CACHE_MAX_BYTES: integer(100_000, 100_000_000_000, 'bytes')
      .default(67_108_864)
      .describe('With `memory`: maximum bytes of all cached replies; the least recently used are evicted first'),
  },
  (env) => ({ kind: env.LLM_CACHE, ttlSeconds: env.LLM_CACHE_TTL_SECONDS, maxBytes: env.LLM_CACHE_MAX_BYTES }),
);
export type CacheConfig = NamespaceConfig<typeof cacheConfig>;
