import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { mayBeJson } from './json-text.policy.js';

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"a"',
  '"',
  '\\',
  '0',
  '1',
  '-',
  '.',
  'e5',
  'true',
  'null',
  'nul',
  ' ',
  '\n',
];
const OTHERS = [
  '\t',
  '\u00a0',
  '"\\u00e9"',
  '"\\x"',
  '"\n"',
  '12.5e+3',
  '01',
  '"\u2028"',
  '\u0001',
  '{"a":',
  '[1,',
  '""',
];
const text = fc.oneof(
  fc.array(fc.constantFrom(...TOKENS, ...OTHERS), { maxLength: 9 }).map((all) => all.join('')),
  fc.json({ maxDepth: 5 }),
  fc.json({ maxDepth: 2 }).map((json) => json.slice(0, -1)),
  fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, 2)),
);

function isJson(one: string): boolean {
  try {
    JSON.parse(one);
    return true;
  } catch {
    return false;
  }
}

describe('mayBeJson', () => {
  it('distinguishes JSON from other text up to 1,000 characters', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(mayBeJson(one)).toBe(isJson(one) || one.length > 1_000);
      }),
      { numRuns: 5_000 },
    );
  });
});
