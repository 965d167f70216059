import { describe, expect, it } from 'vitest';
import { HeapBudget, heapBudgetBytes, HeapReservation } from './heap-budget.js';

const MIB = 1_048_576;

describe('the heap budget', () => {
  it('leaves space for the code, the young generation and garbage', () => {
    // Node 24 reports 392 MiB for --max-old-space-size=200, and 4,288 MiB by default on this machine.
    expect(heapBudgetBytes(392 * MIB)).toBeLessThan(100 * MIB);
    expect(heapBudgetBytes(4_288 * MIB)).toBeGreaterThan(2_000 * MIB);
    expect(heapBudgetBytes(64 * MIB)).toBeGreaterThan(0);
  });

  it('refuses new work above its part, and growth above the whole', () => {
    let refusals = 0;
    const budget = new HeapBudget(100, () => refusals++);
    const first = budget.open(58)!;
    expect(budget.open(3)).toBeNull();
    expect(first.grow(42)).toBe(true);
    expect(first.grow(1)).toBe(false);
    expect([budget.used, refusals]).toEqual([100, 2]);
  });

  it('lets a small reservation grow beside large ones that exhaust it', () => {
    const budget = new HeapBudget(1_000);
    const [large, small] = [budget.open(0)!, budget.open(0)!];
    large.grow(1_000);
    expect([small.grow(10), large.grow(1), small.grow(1)]).toEqual([true, false, false]);
  });

  it('gives accepted work its turn, however large it is', () => {
    const budget = new HeapBudget(100);
    const first = budget.open(40)!;
    expect(budget.openAccepted(1_000)).toBeNull();
    expect(budget.open(1)).toBeNull();
    first.release();
    expect(budget.open(30)).not.toBeNull();
    expect(budget.openAccepted(1_000)).not.toBeNull();
    expect(budget.used).toBe(80);
  });

  it('gets bytes back from the last owner, once', () => {
    const budget = new HeapBudget(100);
    const request = budget.open(40)!;
    const run = request.retain();
    run.grow(20);
    request.release();
    expect(budget.used).toBe(60);
    run.release();
    run.release();
    expect(budget.used).toBe(0);
  });

  it('does not count the late parts of ended work', () => {
    const budget = new HeapBudget(100);
    const run = budget.open(10)!;
    run.release();
    expect([run.grow(50), budget.used]).toEqual([true, 0]);
  });
});

describe('the current reservation', () => {
  it('is that of the async context, until it is released', async () => {
    const reservation = new HeapBudget(100).open(10)!;
    const seen = await reservation.run(async () => {
      await Promise.resolve();
      const { current } = HeapReservation;
      reservation.release();
      return [current, HeapReservation.current];
    });
    expect(seen).toEqual([reservation, undefined]);
    expect(HeapReservation.current).toBeUndefined();
  });

  it('releases the bytes of a part at the end of the part', async () => {
    const budget = new HeapBudget(100);
    const run = budget.open(10)!;
    await run.run(async () => {
      const part = HeapReservation.during(async () => {
        expect([HeapReservation.grow(90), HeapReservation.grow(1)]).toEqual([true, false]);
        throw new Error('failed');
      });
      await expect(part).rejects.toThrow('failed');
      expect(budget.used).toBe(10);
    });
  });

  it('limits nothing outside of requests and runs', async () => {
    expect(HeapReservation.grow(1e12)).toBe(true);
    expect(await HeapReservation.during(async () => HeapReservation.current)).toBeUndefined();
  });
});
