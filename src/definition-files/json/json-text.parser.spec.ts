import { describe, expect, it } from 'vitest';
import { array, assert, constantFrom, jsonValue, nat, pre, property } from 'fast-check';
import { JsonTextError, offsetOf, parseJsonText } from './json-text.parser.js';

function refusal(text: string): [offset: number, message: string] {
  try {
    parseJsonText(text);
  } catch (error) {
    if (error instanceof JsonTextError) return [error.offset, error.message];
    throw error;
  }
  throw new Error(`taken: ${text}`);
}

/** Results of both parsers for a text. */
function readings(text: string): [unknown, unknown] {
  return [valueOf(() => parseJsonText(text).value), valueOf(() => JSON.parse(text) as unknown)];
}

function valueOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch {
    return 'refused';
  }
}

describe('parseJsonText', () => {
  it('returns the same value as JSON.parse for any JSON', () => {
    assert(
      property(jsonValue({ maxDepth: 5 }), nat(4), (value, indent) => {
        pre(!JSON.stringify(value).includes('__proto__'));
        const text = JSON.stringify(value, null, indent);
        expect(parseJsonText(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts and refuses the same texts as JSON.parse', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b',
      '\\',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
    ];
    assert(
      property(array(constantFrom(...pieces), { maxLength: 8 }), (words) => {
        const text = words.join('');
        pre(!/"a"[^]*"a"/.test(text));
        const [ours, theirs] = readings(text);
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 2_000 },
    );
  });

  it('returns the offset of a value', () => {
    const text = '{\n  "a": [1, {"b": 2}]}';
    const { place } = parseJsonText(text);
    const found = (path: PropertyKey[]) => text.slice(offsetOf(place, path));
    expect(found(['a', 1, 'b'])).toBe('"b": 2}]}');
    expect(found(['a', 0])).toBe('1, {"b": 2}]}');
    expect(found(['a', 7, 'c'])).toBe('"a": [1, {"b": 2}]}');
    expect(found([])).toBe(text);
  });

  it.each([
    ['', 0, 'expected a value'],
    ['{"a": 1,}', 8, 'expected the name of a member'],
    ['{"a" 1}', 5, 'expected :'],
    ['[1 2]', 3, 'expected , or ]'],
    ['{"a": 1} x', 9, 'expected the end of the file'],
    ['{"a": 1, "a": 2}', 9, '"a" is there twice'],
    ['{"\\u005f_proto__": 1}', 1, '__proto__ is refused'],
    ['{"a": "x', 6, 'has no end'],
    ['["a\nb"]', 1, 'in which a line ends'],
    ['["\\x"]', 1, 'an escape that there is not'],
    ['// no', 0, 'expected a value'],
    ['[01]', 2, 'expected , or ]'],
    ['['.repeat(200_000), 33, 'nested more than 32 deep'],
    [`[${'1,'.repeat(20_000)}1]`, 19_999, 'more than 10000 values'],
  ])('refuses the invalid text %# with an offset', (text, offset, message) => {
    const [at, said] = refusal(text);
    expect([at, said]).toEqual([offset, expect.stringContaining(message)]);
  });
});
