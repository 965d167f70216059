import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { parseArguments } from './arguments.parser.js';

const reasonOf = (text: string): string => {
  const parsed = parseArguments(text);
  return parsed.ok ? `parsed ${JSON.stringify(parsed.value)}` : parsed.reason;
};

describe('parseArguments', () => {
  it('parses an object, and blank text as an empty object', () => {
    expect(parseArguments('{"a":[1,{"b":"\\u4f60"}]}')).toEqual({ ok: true, value: { a: [1, { b: '你' }] } });
    expect(parseArguments(' \n')).toEqual({ ok: true, value: {} });
  });

  it.each([
    ['{"a": 1', 'ends too early, at position 7'],
    ['{"a": "hel', 'ends too early, at position 10'],
    ['{"a": "x\\u00', 'ends too early, at position 12'],
    ['{"a": tru', 'ends too early, at position 9'],
    ['{"a":', 'ends too early, at position 5'],
    ['{', 'ends too early, at position 1'],
    ['{"a": 1,}', 'unexpected "}" at position 8'],
    ["{'a': 1}", 'unexpected "\'a\': 1}" at position 1'],
    ['{"a" 1}', 'unexpected "1}" at position 5'],
    ['{"a": 1} x', 'unexpected "x" at position 9'],
    ['hello', 'unexpected "hello" at position 0'],
    ['{"a": "x\\q"}', 'at position 8'],
    ['{"a": "tab\there"}', 'at position 10'],
    ['[1,]', 'unexpected "]" at position 3'],
  ])('reports the position of the error in %s', (text, expected) => {
    expect(reasonOf(text)).toContain(expected);
  });

  it.each([
    ['[1]', 'got an array'],
    ['"text"', 'got a string'],
    ['3', 'got a number'],
    ['null', 'got null'],
  ])('accepts objects only: %s', (text, expected) => {
    expect(reasonOf(text)).toContain(expected);
  });

  it('refuses nesting that is too deep, without recursion', () => {
    expect(reasonOf(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).toContain('deeper than 100 levels');
    expect(reasonOf(`{"a":${'['.repeat(99)}${']'.repeat(99)}}`)).toContain('parsed');
    expect(reasonOf(JSON.stringify({ a: '[{'.repeat(200) }))).toContain('parsed');
  });

  it.each(['{"__proto__":{}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":{}}'])('refuses %s', (text) => {
    expect(reasonOf(text)).toContain('__proto__" is not allowed');
  });

  it('accepts the word __proto__ as a value', () => {
    expect(parseArguments('{"a":"__proto__"}').ok).toBe(true);
  });

  it('reports the end of a truncated object as the position of the error', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const truncated = text.slice(0, 1 + (cut % (text.length - 1)));
        expect(reasonOf(truncated)).toContain(`ends too early, at position ${truncated.length}`);
      }),
    );
  });

  it('never throws', () => {
    const unit = fc.constantFrom(...'{}[]":,\\ue1-. tfn_a\n'.split(''));
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(parseArguments(text)).toHaveProperty('ok');
      }),
    );
  });
});
