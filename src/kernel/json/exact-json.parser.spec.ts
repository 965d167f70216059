import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { canonicalJson } from './canonical-json.mapper.js';
import { ExactInteger, exactIn, hasExact, parseExactJson, withRounded } from './exact-json.parser.js';

const ID = '9123456789012345677';

describe('parseExactJson', () => {
  it.each([
    ID,
    `-${ID}`,
    '9007199254740993',
    '18446744073709551616',
    '123456789012345678901234567890',
    `${ID}.0`,
    '1e400',
    '-1E+400',
    '1e0400',
    '1234567890.1234567e7',
    '12345678901234567e5',
  ])('keeps the digits of %s', (source) => {
    for (const text of [source, `[${source}]`, `{"a":{"b":[1,${source}]}}`, ` [ ${source}\n]`]) {
      const value = parseExactJson(text);
      expect(exactIn(value)).toHaveLength(1);
      expect(JSON.stringify(value)).toBe(text.replaceAll(/\s/g, ''));
    }
  });

  it.each([
    '9007199254740991',
    '9007199254740992',
    '100000000000000000000',
    '1e20',
    '1e300',
    '-0',
    '0.1234567890123456789',
    '3.0',
    '1e-400',
    '0e999',
  ])('reads %s as the number that JSON.parse gives', (source) => {
    expect(parseExactJson(`[${source}]`)).toEqual(JSON.parse(`[${source}]`));
  });

  it('leaves digits in strings and keys as they are', () => {
    const text = `{"${ID}":"${ID}","a":"1e400 \\" ${ID}","b":"\\\\","c":[",${ID},"]}`;
    const value = parseExactJson(text);
    expect(hasExact(value)).toBe(false);
    expect(JSON.stringify(value)).toBe(text);
  });

  it('writes integers of any size as they were read, in any JSON', () => {
    const integers = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), integers)), (members) => {
        const text = `[${members.map(([name, integer]) => `{${JSON.stringify(name)}:[${integer}]}`).join(',')}]`;
        const written = JSON.stringify(parseExactJson(text));
        expect([...written.matchAll(/:\[(-?[\d.e+]+)\]/g)].map(([, one]) => BigInt(toDigits(one!)))).toEqual(
          members.map(([, integer]) => BigInt(integer)),
        );
      }),
    );
  });

  it('reads any JSON that is written by JSON.stringify as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('throws the SyntaxError of JSON.parse', () => {
    expect(() => parseExactJson(`[${ID}`)).toThrow(SyntaxError);
    expect(() => parseExactJson('{"a": 0123456789012345678}')).toThrow(SyntaxError);
  });
});

/** JSON.stringify writes a number from 1e21 on with an exponent. */
function toDigits(number: string): string {
  const [, whole = '', fraction = '', exponent] = /^(-?\d+)(?:\.(\d+))?(?:e\+(\d+))?$/.exec(number) ?? [];
  return exponent === undefined ? whole : whole + fraction.padEnd(Number(exponent), '0');
}

describe('ExactInteger', () => {
  const integer = new ExactInteger(ID);

  it('returns its digits as text and as a bigint', () => {
    expect(String(integer)).toBe(ID);
    expect(`id ${integer as unknown as string}`).toBe(`id ${ID}`);
    expect('id ' + (integer as unknown as string)).toBe(`id ${ID}`);
    expect((integer as unknown as bigint) > 1n).toBe(true);
    expect(integer.toBigInt()).toBe(BigInt(ID));
    expect(new ExactInteger(`-${ID}.00`).toBigInt()).toBe(-BigInt(ID));
    expect(new ExactInteger('12345678901234567e2').toBigInt()).toBe(1234567890123456700n);
    expect(() => new ExactInteger('1e999999').toBigInt()).toThrow(RangeError);
  });

  it('refuses arithmetic with plain numbers, which would round', () => {
    expect(() => (integer as unknown as number) + 1).toThrow(TypeError);
  });

  it('is written with its digits in canonical JSON', () => {
    expect(canonicalJson({ b: integer, a: [integer] })).toBe(`{"a":[${ID}],"b":${ID}}`);
  });

  it('is rounded to a finite number', () => {
    expect(withRounded({ a: [integer, new ExactInteger('1e400'), new ExactInteger('-1e400')] })).toEqual({
      a: [Number(ID), Number.MAX_VALUE, -Number.MAX_VALUE],
    });
  });
});
