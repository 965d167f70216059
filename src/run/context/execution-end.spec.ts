import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../errors/index.js';
import { OutagePatience } from './execution-end.js';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const BACKGROUND = { isPatient: true, epoch: 1, deadlineAt: null, outageSince: null };

const fault = (code: ErrorCode = 'MODEL_UNAVAILABLE', retryAfterMs?: number, isRetryable = true) =>
  new AppError(code, 'away', {
    isRetryable,
    ...(retryAfterMs !== undefined && { details: { retry_after_ms: retryAfterMs } }),
  });

/** Delays of the next attempt, in ms, without and with the most jitter. */
function delays(outageMs: number, error = fault(), more: object = {}): number[] {
  const patience = new OutagePatience({ ...BACKGROUND, outageSince: NOW - outageMs, ...more }, HOUR_MS);
  return [0, 1].map((random) => patience.postponement(error, NOW, random).notBefore - NOW);
}

describe('OutagePatience', () => {
  it('waits as long as the outage has lasted, 1 s to 60 s, with up to 25 % more', () => {
    expect(delays(0)).toEqual([1000, 1250]);
    expect(delays(8000)).toEqual([8000, 10_000]);
    expect(delays(600_000)).toEqual([48_000, 60_000]);
  });

  it('waits as long as the provider asks, but not beyond the deadline or its patience', () => {
    expect(delays(0, fault('MODEL_RATE_LIMITED', 120_000))).toEqual([120_000, 150_000]);
    expect(delays(0, fault('MODEL_RATE_LIMITED', 10))).toEqual([1000, 1250]);
    expect(delays(8000, fault(), { deadlineAt: NOW + 500 })).toEqual([500, 500]);
    expect(delays(HOUR_MS - 100)).toEqual([100, 100]);
  });

  it('lasts for retryable errors of an unavailable provider until its end, again after a recorded step', () => {
    const patience = new OutagePatience({ ...BACKGROUND, outageSince: NOW - HOUR_MS }, HOUR_MS);
    expect(patience.lasts(fault(), NOW - 1)).toBe(true);
    expect(patience.lasts(fault(), NOW)).toBe(false);
    patience.renew();
    expect(patience.lasts(fault(), NOW)).toBe(true);
    expect(patience.lasts(fault('MODEL_RATE_LIMITED', undefined, false), NOW)).toBe(false);
    for (const code of ['MODEL_AUTHENTICATION', 'MODEL_REFUSED', 'BUDGET_EXCEEDED'] as const)
      expect(patience.lasts(fault(code), NOW)).toBe(false);
    expect(patience.lasts(new Error('broken'), NOW)).toBe(false);
  });

  it('fails the first execution of a run with a waiting client at once, not a later one', () => {
    const chat = { ...BACKGROUND, isPatient: false };
    expect(new OutagePatience(chat, HOUR_MS).lasts(fault())).toBe(false);
    expect(new OutagePatience({ ...chat, epoch: 2 }, HOUR_MS).lasts(fault())).toBe(true);
    expect(new OutagePatience(BACKGROUND, 0).lasts(fault())).toBe(false);
  });
});
