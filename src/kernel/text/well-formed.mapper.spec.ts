import { describe, expect, it } from 'vitest';
import { ExactInteger } from '../json/exact-json.parser.js';
import { wellFormed } from './well-formed.mapper.js';

describe('wellFormed', () => {
  it.each([
    ['a\ud83d', 'a\ufffd'],
    ['\ude00b', '\ufffdb'],
    [
      ['😀', { x: '\ud83d' }],
      ['😀', { x: '\ufffd' }],
    ],
    [
      { '\ud83d': 1, b: null },
      { '\ufffd': 1, b: null },
    ],
  ])('replaces lone surrogates: %j', (given, expected) => {
    expect(wellFormed(given as unknown)).toEqual(expected);
  });

  it('returns a well-formed value itself, with its exact integers', () => {
    const value = { a: ['😀', 1, null, true], id: new ExactInteger('12345678901234567890') };
    expect(wellFormed(value)).toBe(value);
    const [half, id] = wellFormed(['\ud83d', value.id]);
    expect(half).toBe('\ufffd');
    expect(id).toBe(value.id);
  });
});
