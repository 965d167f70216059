import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { cosine, decodeVector, encodeVector, toDirection } from './fact-vector.service.js';

const vector = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 40 });

describe('a vector', () => {
  it('is decoded with its direction only, without its length', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        expect(decodeVector(encodeVector(numbers))).toEqual(toDirection(numbers));
      }),
    );
    expect(encodeVector([3, 4])).toBe(encodeVector([30, 40]));
    expect(decodeVector(encodeVector([3, 4]))).toEqual(Float32Array.of(0.6, 0.8));
    expect(decodeVector(encodeVector([]))).toEqual(new Float32Array());
  });

  it('is compared by its direction', () => {
    const cosineOf = (a: number[], b: number[]) => cosine(toDirection(a), toDirection(b));
    expect(cosineOf([1, 1], [5, 5])).toBeCloseTo(1);
    expect(cosineOf([1, 0], [-3, 0])).toBeCloseTo(-1);
    expect(cosineOf([1, 0], [0, 3])).toBe(0);
    expect([cosineOf([0, 0], [1, 2]), cosineOf([1], [1, 2]), cosineOf([], [])]).toEqual([0, 0, 0]);
  });
});
