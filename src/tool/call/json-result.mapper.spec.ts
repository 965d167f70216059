import { describe, expect, it } from '@jest/globals';
import { cutText } from './cut-text.mapper.js';
import { toJsonResult } from './json-result.mapper.js';

describe('toJsonResult', () => {
  it.each([
    [undefined, null, 'null'],
    [null, null, 'null'],
    ['300', '300', '300'],
    [5, 5, '5'],
    [{ a: [1, undefined], b: undefined }, { a: [1, null] }, '{"a":[1,null]}'],
    [new Date(0), '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
    [{ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [{ toJSON: () => undefined }, null, 'null'],
  ])('converts %p', (returned, value, text) => {
    expect(toJsonResult(returned)).toEqual({ value, text });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  it.each<[string, unknown, string]>([
    ['BigInt', 1n, 'it is a bigint'],
    ['nested BigInt', { rows: [{ id: 1n }] }, '"id" is a bigint'],
    ['function', () => 1, 'it is a function'],
    ['nested function', { run: () => 1 }, '"run" is a function'],
    ['symbol', Symbol('x'), 'it is a symbol'],
    ['cycle', cyclic, 'it refers to itself'],
  ])('refuses a %s', (_case, returned, reason) => {
    expect(() => toJsonResult(returned)).toThrow(reason);
  });
});

describe('cutText', () => {
  it('returns a text that fits unchanged', () => {
    expect(cutText('abc', 3)).toBe('abc');
    expect(cutText('你好', 6)).toBe('你好');
  });

  it('cuts at a whole character and adds a note', () => {
    expect(cutText('abcdef', 4)).toBe('abcd… [cut: 4 of 6 bytes shown]');
    expect(cutText('你好吗', 7)).toBe('你好… [cut: 6 of 9 bytes shown]');
    expect(cutText('a😀b', 4)).toBe('a… [cut: 1 of 6 bytes shown]');
  });
});
