import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CacheConfig, DatabaseConfig, SecurityConfig } from '../config/namespaces/index.js';
import type { Cache } from './cache.js';
import { chooseCache, MemoryCache } from './cache.factory.js';

const MINUTE_MS = 60_000;

describe('MemoryCache', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ['the wall clock', Date],
    ['the monotonic clock', performance],
  ])('hides an entry as soon as it expires by %s, without a timer', async (_name, clock) => {
    const cache = new MemoryCache(2 * MINUTE_MS, 10_000);
    await cache.set('default', 'a');
    await cache.set('short', 'b', MINUTE_MS);
    // Read first: the library must not remember the time of this read.
    expect([await cache.get('default'), await cache.get('short')]).toEqual(['a', 'b']);
    const start = clock.now();
    const now = vi.spyOn(clock, 'now').mockReturnValue(start + MINUTE_MS + 1);
    expect([await cache.get('default'), await cache.get('short')]).toEqual(['a', null]);
    now.mockReturnValue(start + 2 * MINUTE_MS + 1);
    expect([await cache.get('default'), await cache.get('short')]).toEqual([null, null]);
  });
});

describe('an own cache', () => {
  /** @param get as in JavaScript, which needs no promise */
  async function guarded(get: () => unknown) {
    const own = { get, set: () => undefined, close: () => undefined } as unknown as Cache;
    const config = { encryption: { keys: [] } } as unknown as SecurityConfig;
    const cache = await chooseCache({} as CacheConfig, {} as DatabaseConfig, config, own);
    return cache!;
  }

  it('may return values without promises', async () => {
    const cache = await guarded(() => 'stored');
    await cache.set('key', 'value');
    expect(await cache.get('key')).toBe('stored');
  });

  it.each([
    () => {
      throw new Error('away');
    },
    () => Promise.reject(new Error('away')),
  ])('counts as a miss if it fails: %s', async (get) => {
    expect(await (await guarded(get)).get('key')).toBeNull();
  });
});
