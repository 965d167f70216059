import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecurringWork } from './recurring-work.policy.js';

const NOW = 1_800_000_000_000;
const DAYS_MS = 30 * 86_400_000;
const MINUTE_MS = 60_000;

describe('RecurringWork that deletes by age', () => {
  let rounds: number;
  const jumps: number[] = [];
  let work: RecurringWork;
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW });
    rounds = jumps.length = 0;
    const onClockJump = (jumpMs: number) => void jumps.push(jumpMs);
    const round = async () => (rounds++, MINUTE_MS);
    work = new RecurringWork({ work: round, onFailure: () => undefined, retryMs: MINUTE_MS, onClockJump });
    work.start(MINUTE_MS);
  });
  afterEach(async () => {
    await work.stop();
    vi.useRealTimers();
  });

  it('runs no round while the wall clock is wrong for seconds, nor in the ten minutes after it', async () => {
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(rounds).toBe(2);
    vi.setSystemTime(Date.now() + DAYS_MS);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    vi.setSystemTime(Date.now() - DAYS_MS);
    await vi.advanceTimersByTimeAsync(19 * MINUTE_MS);
    expect(rounds).toBe(2);
    expect(jumps).toEqual([DAYS_MS, -DAYS_MS]);
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    expect(rounds).toBeGreaterThan(2);
  });

  it('continues ten minutes after a jump that is permanent', async () => {
    vi.setSystemTime(NOW + DAYS_MS);
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(rounds).toBe(0);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(rounds).toBe(1);
  });
});
