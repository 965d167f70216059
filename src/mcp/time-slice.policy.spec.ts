import { describe, expect, it } from 'vitest';
import { mapInSlices } from './time-slice.policy.js';

/** Takes longer than a slice. */
function work(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

describe('mapInSlices', () => {
  it('maps all items in order, with the index of each', async () => {
    expect(await mapInSlices(['a', 'b', 'c'], (item, at) => `${item}${at}`)).toEqual(['a0', 'b1', 'c2']);
    expect(await mapInSlices([], () => 1)).toEqual([]);
  });

  it('lets other work of the process run between items', async () => {
    const seen: string[] = [];
    setImmediate(() => seen.push('other'));
    await mapInSlices([1, 2, 3], (item) => {
      seen.push(String(item));
      work();
    });
    expect(seen.indexOf('other')).toBe(1);
  });

  it('ends between two items with the reason of the signal, or with the error of an item', async () => {
    const abort = new AbortController();
    const seen: number[] = [];
    const mapping = mapInSlices(
      [1, 2, 3],
      (item) => {
        seen.push(item);
        work();
        abort.abort(new Error('closed'));
      },
      abort.signal,
    );
    await expect(mapping).rejects.toThrow('closed');
    expect(seen).toEqual([1]);
    const failing = () => {
      throw new Error('bad item');
    };
    await expect(mapInSlices([1], failing)).rejects.toThrow('bad item');
  });
});
