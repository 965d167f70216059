import { expect, it } from 'vitest';
import { describeJsonFault } from './json-fault.js';
import { parseJson } from './json.js';

function describeText(text: string, maxValues?: number): string {
  const parsed = parseJson(text, JSON.parse, maxValues);
  return parsed.ok ? 'valid' : describeJsonFault(parsed.fault, text);
}

it.each([
  ['{"a": 1,}', 'syntax error at line 1, column 9'],
  ['{\n  "a": 1\n  "b": 2\n}', 'syntax error at line 3, column 3'],
  ["{'a': 1}", 'syntax error at line 1, column 2'],
  ['{"a": NaN}', 'syntax error at line 1, column 7'],
  ['// a comment\n{}', 'syntax error at line 1, column 1'],
  ['{}{}', 'syntax error at line 1, column 3'],
  ['{"a": "b\tc"}', 'syntax error at line 1, column 9'],
  ['{"a": "b', 'the text ends too early'],
  ['', 'the text ends too early'],
  ['{"a": {"__proto__": 1}}', 'the key "a.__proto__" is not allowed'],
  ['['.repeat(101), 'nested deeper than 100 levels'],
])('describes the fault of %j', (text, description) => {
  expect(describeText(text)).toBe(description);
});

it('names the limit of values', () => {
  expect(describeText(`[${'1,'.repeat(100)}1]`, 50)).toBe('more than 50 values');
});

it('does not search a long text for its error', () => {
  expect(describeText(`"${'a'.repeat(50_000)}"x`)).toBe('syntax error');
});
