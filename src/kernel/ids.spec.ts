import { describe, expect, it } from 'vitest';
import { idsFrom, newId } from './ids.js';

describe('newId', () => {
  it('never returns the same id twice, also after its pool is refilled', () => {
    const ids = Array.from({ length: 2_000 }, newId);
    expect(new Set(ids.map((id) => id.slice(9))).size).toBe(2_000);
    for (const id of ids) expect(id).toMatch(/^[\w-]{31}$/);
  });

  it('sorts by the time', () => {
    const first = newId();
    let next = newId();
    while (next.slice(0, 9) === first.slice(0, 9)) next = newId();
    expect(next > first).toBe(true);
  });

  it('sorts between earlier and later ids', () => {
    const before = Date.now();
    const id = newId();
    expect([id >= idsFrom(before), id < idsFrom(Date.now() + 1)]).toEqual([true, true]);
    expect(idsFrom(0) < idsFrom(before)).toBe(true);
  });
});
