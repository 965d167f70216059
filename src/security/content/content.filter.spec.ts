import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../kernel/json/index.js';
import { classRule, ContentFilter } from './content.filter.js';
import { CONTENT_CLASSES } from './content.types.js';
import { FilteredStream } from './filtered-stream.builder.js';
import { createFinders } from './own-pattern.factory.js';
import { cpuMs } from '../../../test/support/cpu-time.js';
import { FOUND, HONEST, key, PEM, PASSWORDS, SPELLINGS } from '../../../test/support/spellings.js';

const NOT_FOUND: readonly (readonly [string, string])[] = [
  ['a short key', 'sk-abc'],
  ['a word that begins so', 'task-force-of-many-people-and-more'],
  ['a key inside a longer name', `x${key('AKIA', 16, 'Q')}`],
  ['a URL without a password', 'https://ann@example/x:y'],
  ['a public key', '-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----'],
  ['two parts of a token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0'],
  ['a wrong check digit', '4111 1111 1111 1112'],
  ['a number of no card scheme', '1111111111111117'],
  ['twenty digits', '41111111111111111111'],
  ['a time in milliseconds', '1764000000011'],
  ['a resident number with a wrong check', '110105194912310021'],
  ['a resident number of no month', '110105194913310021'],
  ['a social security number that is never given out', '000-45-6789 and 666-45-6789 and 900-45-6789'],
  ['a telephone number', '123-456-7890'],
  ['an IBAN with a wrong check', 'DE88370400440532013000'],
  ['an IBAN of no country', 'XX89370400440532013000'],
  ['an IBAN that is too short', 'DE8937040044053201300'],
  ['a handle', '@ann'],
  ['an address without a domain', 'ann@localhost'],
];

const ALL = new ContentFilter(CONTENT_CLASSES.map((name) => classRule(name, 'mask')));

describe('the findings of the content filter', () => {
  it.each(FOUND)('mask %s: %s', (name, text) => {
    for (const around of [
      (x: string) => x,
      (x: string) => `a ${x}, b`,
      (x: string) => `"${x}"\n`,
      (x: string) => `他的${x}。`,
    ]) {
      expect(ALL.text(around(text))).toEqual({ kind: 'masked', value: around(`[${name}]`), names: [name] });
    }
  });

  it.each(NOT_FOUND)('do not include %s', (_case, text) => {
    expect(ALL.text(text)).toEqual({ kind: 'clean' });
  });

  it('include only the password of a connection string', () => {
    const value = 'postgres://ann:[secrets]@db.example:5432/shop';
    expect(ALL.text(value.replace('[secrets]', 'p%40ss:w0rd!'))).toMatchObject({ value });
  });

  it('include a private key without an end marker up to the end of the text', () => {
    expect(ALL.text(`see\n${PEM.slice(0, 60)}`)).toMatchObject({ value: 'see\n[secrets]' });
  });

  it('include every card among other numbers', () => {
    const value = 'on 2024 11 22 [cards] and [cards] 17';
    expect(ALL.text('on 2024 11 22 4111 1111 1111 1111 and 378282246310005 17')).toMatchObject({ value });
  });

  it('are masked once where they overlap', () => {
    const overlapping = `https://ann:${key('ghp_', 36)}@example.com`;
    expect(ALL.text(overlapping)).toMatchObject({ value: expect.stringMatching(/^https:\/\/ann:\[secrets\]/) });
  });
});

describe('an alternative spelling', () => {
  it.each(SPELLINGS)('does not hide %s: %s', (name, _spelling, text) => {
    for (const around of [
      (x: string) => x,
      (x: string) => `a ${x}, b`,
      (x: string) => `"${x}"`,
      (x: string) => `他的${x}。`,
    ])
      expect(ALL.text(around(text))).toEqual({ kind: 'masked', value: around(`[${name}]`), names: [name] });
  });

  it.each(PASSWORDS)('does not hide the password of %s', (url, masked) => {
    for (const around of [
      (x: string) => x,
      (x: string) => `a ${x} b@c`,
      (x: string) => `"${x}", "@"`,
      (x: string) => `连接${x}。`,
    ])
      expect(ALL.text(around(url))).toMatchObject({ value: around(masked) });
  });

  it.each(HONEST)('is not reported in a harmless text: %s', (text) => {
    expect(ALL.text(text)).toEqual({ kind: 'clean' });
    expect(ALL.json([text, { [text]: text }])).toEqual({ kind: 'clean' });
  });

  it('does not hide the matches of a custom pattern, whose characters may have any form', () => {
    const [phone, wide] = createFinders([
      { name: 'phone', pattern: '\\b1[3-9]\\d{9}\\b' },
      { name: 'wide', pattern: '（密）' },
    ]);
    const own = new ContentFilter([
      { name: 'phone', find: phone!, action: 'mask' },
      { name: 'wide', find: wide!, action: 'mask' },
    ]);
    expect(own.text('１３８００１３８０００（密）\\u00313800138000')).toMatchObject({ value: '[phone][wide][phone]' });
  });
});

describe('a JSON value', () => {
  it('is screened in every text, key and long number, and is unchanged elsewhere', () => {
    const value = {
      a: ['ann@b.example', 4111111111111111, 12, null, true],
      'c@d.example': 1,
      'e@f.example': { g: 'h' },
    };
    expect(ALL.json(value)).toEqual({
      kind: 'masked',
      value: { a: ['[emails]', '[cards]', 12, null, true], '[emails]': 1, '[emails] 2': { g: 'h' } },
      names: ['emails', 'cards'],
    });
    expect(ALL.json({ a: [1, 'b'] })).toEqual({ kind: 'clean' });
  });

  it('is blocked when it is nested too deeply to screen', () => {
    let deep: JsonValue = 'x';
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(ALL.json(deep)).toMatchObject({ kind: 'blocked' });
  });

  it('is blocked by a finding at any depth', () => {
    const filter = new ContentFilter([classRule('cards', 'block'), classRule('emails', 'mask')]);
    expect(filter.json({ a: 'ann@b.example', b: [4111111111111111] })).toEqual({ kind: 'blocked', names: ['cards'] });
  });
});

describe('custom patterns', () => {
  it('are matched in linear time for any pattern and text', () => {
    const patterns = [
      { name: 'bomb', pattern: '(a+)+$' },
      { name: 'order', pattern: 'ORD-\\d{6}' },
    ];
    const [bomb, order] = createFinders(patterns);
    const time = cpuMs(() => expect(bomb!(`${'a'.repeat(100_000)}!`)).toEqual([]));
    expect(time).toBeLessThan(5_000);
    expect(order!('see ORD-123456 and ORD-654321')).toEqual([
      { start: 4, end: 14 },
      { start: 19, end: 29 },
    ]);
  });

  it('are refused together if RE2 rejects them or if they match the empty text', () => {
    const patterns = ['(?=a)b', '(a)\\1', '(', 'x*'].map((pattern, at) => ({ name: `p${at}`, pattern }));
    const isReported = {
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/"p0".*\n.*"p1".*\n.*"p2".*\n.*"p3".*empty text/s),
    };
    expect(() => createFinders(patterns)).toThrow(expect.objectContaining(isReported));
  });
});

describe('a hostile text', () => {
  it.each(['sk-', 'ghp_', 'hf_', 'xoxb-', 'SG.', `eyJ${'a'.repeat(8)}.eyJ${'b'.repeat(8)}.`])(
    'may continue a key with millions of characters after %s',
    (start) => {
      const secrets = new ContentFilter([classRule('secrets', 'mask')]);
      const tail = start === 'SG.' ? `${'c'.repeat(20)}.` : '';
      const { kind, ...found } = secrets.text(`see ${start}${tail}${'A1b'.repeat(1_500_000)} end`);
      expect([kind, found]).toEqual(['masked', { value: 'see [secrets] end', names: ['secrets'] }]);
    },
  );

  const MEGABYTE = 1_000_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(MEGABYTE / piece.length)).slice(0, MEGABYTE);
  const letters = ['a', '1', ' ', '-', '@', 'a@', 'a@a.', '1 ', '1-', '4111 ', '4 ', 'AAAA', 'A1 ', '\u0000', '🐦'];
  const beginnings = ['eyJ', 'eyJ-', 'eyJaaaaaaaa.', 'sk-', 'sk-a ', 'a://b:', 'a://', 'DE89 ', 'DE89', '123-45-'];
  const spelled = [
    '\\\\',
    '\\u0034',
    '\u0301',
    '\u0327\u0301',
    '\u200b',
    '４ ',
    '他',
    '{"',
    '[1',
    'a://b:@',
    'sk-A-',
    'be12 ',
  ];
  const pieces = [...letters, ...beginnings, ...spelled, '-----BEGIN ', '-----BEGIN PRIVATE KEY-----'];

  it.each(pieces)('is filtered within five seconds of CPU time if it has a megabyte: %j', (piece) => {
    const text = fill(piece);
    // A quadratic algorithm takes minutes.
    expect(cpuMs(() => ALL.text(text))).toBeLessThan(5_000);
  });

  it.each(pieces)('is filtered within five seconds of CPU time if it arrives in small chunks: %j', (piece) => {
    const text = fill(piece).slice(0, 100_000);
    const stream = new FilteredStream(ALL);
    const time = cpuMs(() => {
      for (let at = 0; at < text.length; at += 4) stream.push(text.slice(at, at + 4));
      stream.end();
    });
    expect(time).toBeLessThan(5_000);
  });
});
