/** What was worked out before and may be had again: texts by their keys, in memory or in Redis. */
export { Cache } from './cache.js';
export { MemoryCache } from './memory-cache.js';
export { CacheModule } from './cache.module.js';
