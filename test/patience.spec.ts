import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inTime, PATIENCE_MS } from './support/patience.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('shows the state of work that takes too long', async () => {
  const late = inTime(new Promise(() => undefined), () => 'no line "ready"').catch(String);
  await vi.advanceTimersByTimeAsync(PATIENCE_MS);
  expect(await late).toBe('Error: Not within 300000 ms: no line "ready"');
});

it('returns the result of work that ends in time, and leaves no timer', async () => {
  expect(await inTime(Promise.resolve(7), () => 'unused')).toBe(7);
  expect(vi.getTimerCount()).toBe(0);
});
