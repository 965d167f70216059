import { describe, expect, it } from 'vitest';
import { ExactInteger } from '../../kernel/json/index.js';
import { cutText } from './tool-result.factory.js';
import { utf8Text, toJsonResult } from './json-result.mapper.js';

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
  ])('converts %o', (returned, value, text) => {
    expect(toJsonResult(returned)).toEqual({ value, text });
  });

  it.each<[string, unknown, string]>([
    ['function', () => 1, 'it is a function'],
    ['symbol', Symbol('x'), 'it is a symbol'],
    ['value whose code throws', { toJSON: () => JSON.parse('{') as unknown }, 'cannot be written as JSON: '],
  ])('refuses a %s', (_case, returned, reason) => {
    expect(() => toJsonResult(returned)).toThrow(reason);
  });

  it('preserves the digits of an exact integer, and calls `toJSON`', () => {
    const exact = new ExactInteger('12345678901234567890');
    expect(toJsonResult({ id: exact, ids: [exact] }).text).toBe(
      '{"id":12345678901234567890,"ids":[12345678901234567890]}',
    );
    expect(toJsonResult({ toJSON: () => new Map([['a', 1]]) }).text).toBe('{}');
  });

  it('writes an object in each of its places, and "[circular]" only inside itself', () => {
    const place = { city: 'Rome' };
    const trip = { from: place, to: place, via: [place] };
    expect(toJsonResult(trip).value).toEqual(trip);
    const parent: Record<string, unknown> = { name: 'a' };
    parent['children'] = [{ parent, place }, place];
    const [child, other] = (toJsonResult(parent).value as { children: object[] }).children;
    expect([child, other]).toEqual([{ parent: '[circular]', place }, place]);
  });
});

describe('utf8Text', () => {
  it.each([
    [Buffer.from('grü😀'), 'grü😀'],
    [Buffer.from('grü😀').subarray(0, -1), 'grü'],
    [Buffer.from([0xff, 0xfe, 0]), null],
    [Buffer.from('a\0b'), null],
    [Buffer.alloc(0), ''],
  ])('is the text of UTF-8 only: %o', (bytes, text) => {
    expect(utf8Text(bytes)).toBe(text);
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
