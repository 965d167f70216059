/** Cached texts by key, in memory or in Redis. */
export { Cache } from './cache.js';
export { openCache, OWN_CACHE } from './cache.factory.js';
export { MemoryCache } from './memory-cache.js';
export { CacheModule } from './cache.module.js';
