import { describe, expect, it } from 'vitest';
import { editDistance } from './near-name.mapper.js';

describe('editDistance', () => {
  it.each([
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
    ['PROVDIER', 'PROVIDER', 1],
    ['abc', 'abc', 0],
  ])('of %s and %s is %d', (a, b, expected) => expect(editDistance(a, b)).toBe(expected));
});
