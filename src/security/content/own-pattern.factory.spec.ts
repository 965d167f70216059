import { describe, expect, it } from 'vitest';
import { RE2JS } from 're2js';
import { patternReach } from './own-pattern.factory.js';

describe('the reach of a pattern', () => {
  it.each([
    ['机密', 2],
    ['1[3-9]\\d{9}', 11],
    ['\\b4711\\b', 4],
    ['ORD-\\d{6}', 10],
    ['a|bcd|ef', 3],
    ['(?i)(?:ab?){2,3}c', 7],
    ['(?P<name>x|yz)(w)?', 3],
    ['[]a-c][^]x][[:alpha:]\\]]{2}', 4],
    ['\\x{1F426}\\pN\\p{Greek}\\x41\\101\\.', 6],
    ['\\Qa+b\\E{2}c', 7],
    ['a{0}b??', 1],
    ['🐦.', 2],
  ])('is computed for %s as %d characters', (pattern, reach) => {
    expect(() => RE2JS.compile(pattern)).not.toThrow();
    expect(patternReach(pattern)).toBe(reach);
  });

  it.each(['a*', 'a+?', 'a{2,}', '(ab)+', '^a', 'a$', '(?m)^a', '\\Aa', 'a\\z', 'a|b*', '(a|[x]{1,})'])(
    'is infinite for %s',
    (pattern) => {
      expect(() => RE2JS.compile(pattern)).not.toThrow();
      expect(patternReach(pattern)).toBe(Infinity);
    },
  );
});
