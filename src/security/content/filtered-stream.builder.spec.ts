import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { FOUND, PASSWORDS, SPELLINGS } from '../../../test/support/spellings.js';
import { classRule, ContentFilter } from './content.filter.js';
import { CONTENT_CLASSES } from './content.types.js';
import { FilteredStream } from './filtered-stream.builder.js';
import { createFinders } from './own-pattern.factory.js';

const ALL = new ContentFilter(CONTENT_CLASSES.map((name) => classRule(name, 'mask')));

describe('a text that arrives in pieces', () => {
  const findings = [
    ...FOUND.map(([, text]) => text),
    ...SPELLINGS.map(([, , text]) => text),
    ...PASSWORDS.map(([url]) => url),
  ];
  const words = [
    'a',
    'and',
    'B2',
    '12',
    '4111',
    'GB82 ',
    'be12 ',
    'X',
    '-----',
    '-----BEGIN ',
    ' ',
    '\n',
    '  ',
    '-',
    '.',
    ', ',
    '他',
    '（',
    '４１１１',
    '\u3000',
  ];
  const parts = ['@', '🐦', '\\', '\\u00', '\u200b', '\u0301', '://', ':', '{"', '[1', '机密', 'ORD-12'];
  const texts = fc
    .array(
      fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...findings) },
        fc.constantFrom(...words, ...parts),
        fc.string({ maxLength: 3 }),
      ),
      { maxLength: 10 },
    )
    .map((pieces) => pieces.join(''));
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 });
  const own = (...patterns: string[]) => {
    const given = patterns.map((pattern, at) => ({ name: `own${at}`, pattern }));
    return createFinders(given).map((find, at) => ({ name: `own${at}`, find, action: 'mask' as const }));
  };
  const OWN = new ContentFilter([...ALL.rules, ...own('机密', 'ORD-\\d{2,6}', '\\b\\d{4}\\b', '（.）|é')]);

  /** The text released after each piece. */
  function* stream(filter: ContentFilter, text: string, sizes: readonly number[]): Generator<string> {
    const filtered = new FilteredStream(filter);
    for (let at = 0, n = 0; at < text.length; at += sizes[n % sizes.length]!, n++) {
      yield filtered.push(text.slice(at, at + sizes[n % sizes.length]!));
    }
    yield filtered.end();
  }
  const released = (filter: ContentFilter, text: string) =>
    [...stream(filter, text, [4])].filter((piece) => piece !== '');

  it.each([
    ['classes', ALL],
    ['classes and own patterns', OWN],
  ])('equals the masked whole text: %s', (_name, filter) => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const whole = filter.text(text);
        const expected = whole.kind === 'masked' ? whole.value : text;
        expect([...stream(filter, text, sizes)].join('')).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  const CHINESE = '这是一个没有空格的中文回答，其中每个句子都很长；它应当一边生成一边显示，而不是最后一次显示。'.repeat(
    4,
  );

  it.each([
    ['a class', new ContentFilter([classRule('cards', 'mask')])],
    ['all classes', ALL],
    ['own patterns', OWN],
  ])('is released with a lag of a few characters if it has no white space: %s', (_name, filter) => {
    const filtered = new FilteredStream(filter);
    let [sent, shown] = [0, 0];
    for (const character of CHINESE) {
      sent++;
      shown += filtered.push(character).length;
      expect(sent - shown).toBeLessThanOrEqual(12);
    }
  });

  it('is released in words, and cut where no finding can continue', () => {
    const card = '我的卡号是4111 1111 1111 1111，请记住。谢谢';
    expect(released(ALL, card)).toEqual(['我的卡号', '是', '[cards]，请记住', '。谢谢']);
    expect(released(ALL, 'one two, ann@b.example three')).toEqual(['one ', 'two, ', '[emails] ', 'three']);
    expect(released(ALL, 'is20 weeks of rain, and more words')[0]).toBe('is20 weeks of rain, ');
    expect(released(OWN, '一二三四五六七八九十机密文件一二三四五六七八九十'.repeat(2)).length).toBeGreaterThan(8);
  });

  it('is buffered whole for a blocked class or an unbounded pattern, and is never released if blocked', () => {
    const blocking = new ContentFilter([classRule('emails', 'block')]);
    expect([...stream(blocking, 'one two ann@b.example three', [4])].join('')).toBe('');
    const unbounded = new ContentFilter(own('one.*'));
    expect(released(unbounded, 'zero one two three')).toEqual(['zero [own0]']);
  });

  it('is buffered whole if it is JSON, and is filtered by value', () => {
    expect(released(ALL, ' {"card": 4111111111111111, "n": [1]}')).toEqual([' {"card": "[cards]", "n": [1]}']);
    expect(released(ALL, '[note] one two three').length).toBeGreaterThan(2);
  });
});
