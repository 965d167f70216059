import { describe, expect, it } from 'vitest';
import { namePattern } from './name-pattern.parser.js';

describe('a name with stars', () => {
  it.each([
    ['github_*', 'github_issue', true],
    ['github_*', 'github', false],
    ['*', '', true],
    ['*_mail', 'send_mail', true],
    ['a*b*c', 'a1b2c', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a.c', 'abc', false],
    ['mail', 'send_mail', false],
    ['a*b*b', 'ab', false],
    ['**', 'x', true],
  ])('matches %s against %s: %s', (pattern, name, isMeant) => {
    expect(namePattern(pattern)(name)).toBe(isMeant);
  });
});
