import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../test/support/cpu-time.js';
import { StringTools } from './string.tool.js';

type Input = Parameters<StringTools['stringTools']>[0];

describe('string_tools', () => {
  const use = (input: Input) => new StringTools().stringTools(input);

  it.each<[Input, unknown]>([
    [{ operation: 'upper', text: 'straße' }, 'STRASSE'],
    [{ operation: 'lower', text: 'ÀB' }, 'àb'],
    [{ operation: 'title', text: "don't STOP me" }, "Don't Stop Me"],
    [{ operation: 'reverse', text: 'ab👩‍👧é' }, 'é👩‍👧ba'],
    [{ operation: 'length', text: '👩‍👧你好' }, 3],
    [{ operation: 'trim', text: '  a b　' }, 'a b'],
    [{ operation: 'count_words', text: 'Hello, big world!' }, 3],
    [{ operation: 'count_words', text: '我爱北京天安门' }, 4],
    [{ operation: 'replace', text: 'a.b.c', search: '.', replacement: '$&' }, 'a$&b$&c'],
    [{ operation: 'replace', text: 'a-b', search: '-', replacement: '' }, 'ab'],
    [{ operation: 'contains', text: 'abc', search: 'bc' }, true],
    [{ operation: 'split', text: 'a,b', separator: ',' }, ['a', 'b']],
    [{ operation: 'split', text: '你é', separator: '' }, ['你', 'é']],
    [{ operation: 'join', text: ', ', parts: ['a', 'b'] }, 'a, b'],
    [{ operation: 'join', text: '', parts: ['a', 'b'], separator: '-' }, 'a-b'],
    [{ operation: 'replace', text: '👨‍👩‍👧 and 👨', search: '👨', replacement: 'X' }, '👨‍👩‍👧 and X'],
    [{ operation: 'contains', text: '🇨🇳🇩🇪', search: '🇳🇩' }, false],
    [{ operation: 'contains', text: '🇨🇳🇩🇪', search: '🇩🇪' }, true],
    [{ operation: 'contains', text: '你', search: '' }, true],
    [{ operation: 'split', text: 'é\r\n你\n', separator: '\n' }, ['é\r', '你', '']],
    [{ operation: 'slice', text: '👍bcd', start: 0, end: 2 }, '👍b'],
    [{ operation: 'slice', text: 'abcd', start: -2 }, 'cd'],
    [{ operation: 'repeat', text: 'ab', count: 3 }, 'ababab'],
    [{ text: 'upper: hello' }, 'HELLO'],
    [{ text: 'Count Words： one two' }, 2],
    [{ text: 'reverse:a: b' }, 'b :a'],
  ])('evaluates %j', (input, expected) => {
    expect(use(input)).toEqual(expected);
  });

  it.each<[Input, string]>([
    [{ text: 'hello' }, 'There is no operation: for example {"operation": "upper", "text": "hello"}'],
    [{ text: 'shout: hello' }, 'There is no operation'],
    [{ text: 'constructor: hello' }, 'There is no operation'],
    [{ text: 'repeat: hello' }, 'The operation "repeat" needs "count": for example'],
    [{ operation: 'replace', text: 'a' }, 'needs "search" and "replacement"'],
    [{ operation: 'replace', text: 'a', search: '', replacement: 'b' }, '"search" of replace is empty'],
    [{ operation: 'upper', text: 'a'.repeat(100_001) }, 'more than 100000 characters'],
    [{ operation: 'repeat', text: 'ab', count: 5_001 }, 'would have 10002 characters; 10000 are allowed'],
    [
      { operation: 'replace', text: 'a'.repeat(9_999), search: 'a', replacement: 'b'.repeat(9_999) },
      '100000 are allowed',
    ],
  ])('refuses %.60j', (input, reason) => {
    expect(() => use(input)).toThrow(reason);
  });

  it.each<[string, Input, unknown]>([
    ['reverse', { operation: 'reverse', text: 'é👍'.repeat(24_000) + 'a' }, 'a' + '👍é'.repeat(24_000)],
    ['length', { operation: 'length', text: 'e\u0301'.repeat(50_000) }, 50_000],
    ['count_words', { operation: 'count_words', text: 'ab '.repeat(33_000) }, 33_000],
    ['title', { operation: 'title', text: 'ab '.repeat(33_000) }, 'Ab '.repeat(33_000)],
    ['no part', { operation: 'contains', text: 'e' + '\u0301'.repeat(99_999), search: '\u0301'.repeat(50_000) }, false],
    [
      'split',
      { operation: 'split', text: '你，'.repeat(50_000), separator: '，' },
      Array.from('你'.repeat(50_000)).concat(''),
    ],
  ])('does %s of 100,000 characters at once', (_name, input, expected) => {
    const time = cpuMs(() => {
      // `toEqual` would print the large difference.
      expect(JSON.stringify(use(input)) === JSON.stringify(expected)).toBe(true);
    });
    expect(time).toBeLessThan(2_000);
  });
});
