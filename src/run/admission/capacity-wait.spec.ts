import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CapacityWait } from './capacity-wait.js';

interface Run {
  readonly tenant: string;
  readonly name: string;
}

const NEVER_MS = 60_000;

describe('the wait for capacity', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** A wait in which `count` runs ended at full capacity, one in each `everyMs`. */
  function measured(count: number, everyMs: number): CapacityWait<Run> {
    const wait = new CapacityWait<Run>(10);
    wait.noteCapacity(true);
    for (let n = 0; n < count; n++) {
      vi.advanceTimersByTime(everyMs);
      wait.ended();
    }
    return wait;
  }

  const join = (wait: CapacityWait<Run>, name: string, tenant = 'a', signal?: AbortSignal) =>
    wait.turn({ name, tenant }, NEVER_MS, signal);

  it('is expected to last as long as the starts ahead need at the measured rate', () => {
    const wait = measured(30, 100);
    expect(wait.expectedMs).toBeCloseTo(100);
    for (let n = 0; n < 9; n++) void join(wait, String(n));
    expect(wait.expectedMs).toBeCloseTo(1000);
  });

  it('follows a rate that changes', () => {
    const wait = measured(30, 100);
    for (let n = 0; n < 100; n++) {
      vi.advanceTimersByTime(10);
      wait.ended();
    }
    expect(wait.expectedMs).toBeLessThan(12);
  });

  it('does not count the time in which there was capacity', () => {
    const wait = measured(30, 100);
    wait.noteCapacity(false);
    vi.advanceTimersByTime(3_600_000);
    wait.ended();
    wait.noteCapacity(true);
    vi.advanceTimersByTime(100);
    wait.ended();
    expect(wait.expectedMs).toBeCloseTo(100);
  });

  it('admits as many starts as run at once before 20 runs have ended', () => {
    const wait = measured(19, 1000);
    for (let n = 0; n < 10; n++) {
      expect(wait.expectedMs).toBe(0);
      void join(wait, String(n));
    }
    expect(wait.expectedMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('serves the oldest first, and tenants in turn', () => {
    const wait = new CapacityWait<Run>(10);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void join(wait, name, name[0]);
    const order: string[] = [];
    while (wait.acceptNext(({ name }) => order.push(name) > 0));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(wait.length).toBe(0);
  });

  it('passes over a tenant that has reached its limit', () => {
    const wait = new CapacityWait<Run>(10);
    for (const name of ['a1', 'b1']) void join(wait, name, name[0]);
    const order: string[] = [];
    wait.acceptNext(({ name, tenant }) => tenant === 'b' && order.push(name) > 0);
    expect([order, wait.length]).toEqual([['b1'], 1]);
    expect(wait.acceptNext(() => false)).toBe(false);
  });

  it('gives no place to a start whose client leaves in the same tick', async () => {
    const wait = new CapacityWait<Run>(10);
    const client = new AbortController();
    const left = join(wait, 'left', 'a', client.signal);
    client.abort();
    expect(wait.acceptNext(() => true)).toBe(false);
    expect(await left).toBe(false);
  });

  it('ends after its limit, and when its client leaves', async () => {
    const wait = new CapacityWait<Run>(10);
    const client = new AbortController();
    const ends = [
      join(wait, 'late'),
      join(wait, 'left', 'a', client.signal),
      join(wait, 'gone', 'a', AbortSignal.abort()),
    ];
    client.abort();
    expect(await Promise.all(ends.slice(1))).toEqual([false, false]);
    expect(wait.length).toBe(1);
    await vi.advanceTimersByTimeAsync(NEVER_MS);
    expect(await ends[0]).toBe(false);
    expect(wait.length).toBe(0);
  });
});
