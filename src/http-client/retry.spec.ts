import { describe, expect, it } from 'vitest';
import { JackdawError } from './jackdaw.error.js';
import { delayOf, isRetryable, newKey, pause } from './retry.js';

const failed = (status: number, more = {}) => new JackdawError('X', 'x', { status, ...more });
const LOST = new JackdawError('CONNECTION_FAILED', 'x');

describe('isRetryable', () => {
  it.each([
    ['a lost connection', LOST, true, false],
    ['429', failed(429), true, true],
    ['503', failed(503), true, true],
    ['502 of a proxy', failed(502), true, false],
    ['504 of a proxy', failed(504), true, false],
    ['the failure of a run', failed(503, { runId: 'r' }), false, false],
    ['a wait of more than a minute', failed(429, { retryAfterMs: 60_001 }), false, false],
    ['500', failed(500), false, false],
    ['409', failed(409), false, false],
    ['another error', new Error('x'), false, false],
  ])('of %s', (_title, error, repeatable, once) => {
    expect([isRetryable(error, true), isRetryable(error, false)]).toEqual([repeatable, once]);
  });
});

describe('delayOf', () => {
  it('doubles up to ten seconds, with at most a half of jitter', () => {
    for (const [attempt, most] of [
      [1, 250],
      [2, 500],
      [5, 4000],
      [30, 10_000],
    ] as const) {
      const delay = delayOf(attempt);
      expect(delay).toBeLessThanOrEqual(most);
      expect(delay).toBeGreaterThanOrEqual(most / 2);
    }
  });

  it('is at least the time that the server requires', () => {
    expect(delayOf(1, failed(503, { retryAfterMs: 7000 }))).toBe(7000);
  });
});

describe('pause', () => {
  it('ends at an abort, also at an earlier one', async () => {
    const controller = new AbortController();
    const paused = pause(3_600_000, controller.signal);
    controller.abort();
    await expect(paused).resolves.toBeUndefined();
    await expect(pause(3_600_000, controller.signal)).resolves.toBeUndefined();
  });
});

describe('newKey', () => {
  it('is a key that the server accepts, another one each time', () => {
    expect([newKey(), newKey() === newKey()]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), false]);
  });
});
