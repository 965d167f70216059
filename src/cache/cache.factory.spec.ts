import { afterEach, describe, expect, it, vi } from 'vitest';
import { MemoryCache } from './cache.factory.js';

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
