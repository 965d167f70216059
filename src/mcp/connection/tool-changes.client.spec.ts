import { describe, expect, it } from 'vitest';
import { RetryDelay } from './tool-changes.client.js';

describe('RetryDelay', () => {
  it('doubles up to a minute', () => {
    const delay = new RetryDelay();
    const delays = Array.from({ length: 2000 }, () => delay.next(0, 1));
    expect(delays.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(delays.at(-1)).toBe(60_000);
  });

  it('differs between servers', () => {
    expect([0, 0.5, 1].map((chance) => new RetryDelay().next(0, chance))).toEqual([500, 750, 1000]);
  });

  it('resets after a long connection, but not after a slow failure', () => {
    const delay = new RetryDelay();
    delay.next(0);
    delay.next(5000);
    expect(delay.next(29_999, 1)).toBe(4000);
    expect(delay.next(30_001, 1)).toBe(1000);
    expect(delay.next(0, 1)).toBe(2000);
  });
});
