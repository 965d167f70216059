import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IntakePace } from './outgoing-fetch.factory.js';

describe('the intake rate limit', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('admits a burst of one second, then returns the delay for the excess in ms', () => {
    const pace = new IntakePace(100);
    expect([pace.take(99), pace.take(1), pace.take(50)]).toEqual([0, 0, 500]);
    vi.advanceTimersByTime(500);
    expect([pace.take(0), pace.take(1)]).toEqual([0, 25]);
  });

  it('accumulates at most one second while idle', () => {
    const pace = new IntakePace(100);
    vi.advanceTimersByTime(60_000);
    expect(pace.take(200)).toBe(1000);
  });
});
