/** Cached texts by key, in memory or in Redis. */
export { Cache } from './cache.js';
export { openCache, OWN_CACHE, MemoryCache } from './cache.factory.js';
export { CacheModule } from './cache.module.js';
