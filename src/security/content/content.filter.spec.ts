import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { JsonValue } from '../../common/index.js';
import { classRule, ContentFilter } from './content.filter.js';
import { CONTENT_CLASSES, type ContentClass } from './content.types.js';
import { FilteredStream } from './filtered-stream.builder.js';
import { createFinders } from './own-pattern.factory.js';

const CR = '\r\n';
const KEY_BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${KEY_BODY}\n${KEY_BODY}\n-----END RSA PRIVATE KEY-----`;
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
/** Put together here, so that nobody's scanner takes this file for a leak. */
const key = (prefix: string, length: number, character = 'a') => prefix + character.repeat(length);

const FOUND: readonly (readonly [ContentClass, string])[] = [
  ['secrets', key('sk-', 48)],
  ['secrets', key('sk-proj-', 48)],
  ['secrets', key('sk-ant-api03-', 80)],
  ['secrets', key('sk_live_', 24)],
  ['secrets', key('AKIA', 16, 'Q')],
  ['secrets', key('AIza', 35)],
  ['secrets', key('ghp_', 36)],
  ['secrets', key('github_pat_', 40)],
  ['secrets', key('glpat-', 20)],
  ['secrets', key('xoxb-', 24, '1')],
  ['secrets', key('npm_', 36)],
  ['secrets', key('hf_', 34)],
  ['secrets', `${key('SG.', 22)}.${key('', 43)}`],
  ['secrets', JWT],
  ['secrets', PEM],
  ['secrets', PEM.replaceAll('\n', CR)],
  ['secrets', PEM.replaceAll('RSA ', 'EC ')],
  ['secrets', PEM.replaceAll('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')],
  ['cards', '4111111111111111'],
  ['cards', '4111 1111 1111 1111'],
  ['cards', '4111-1111-1111-1111'],
  ['cards', '5555555555554444'],
  ['cards', '2223003122003222'],
  ['cards', '378282246310005'],
  ['cards', '3782 822463 10005'],
  ['cards', '6011111111111117'],
  ['cards', '3530111333300000'],
  ['cards', '6200000000000005'],
  ['cards', '30569309025904'],
  ['ids', '11010519491231002X'],
  ['ids', '440524188001010014'],
  ['ids', '123-45-6789'],
  ['ids', 'DE89370400440532013000'],
  ['ids', 'DE89 3704 0044 0532 0130 00'],
  ['ids', 'GB82 WEST 1234 5698 7654 32'],
  ['ids', 'NO9386011117947'],
  ['emails', 'ann@example.com'],
  ['emails', 'ann.b+c_d%e@mail.example.co.uk'],
];

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

const ALL = new ContentFilter(
  CONTENT_CLASSES.map((name) => classRule(name, 'mask')),
  true,
);

describe('what is found', () => {
  it.each(FOUND)('%s: %s', (name, text) => {
    for (const around of [
      (x: string) => x,
      (x: string) => `a ${x}, b`,
      (x: string) => `"${x}"\n`,
      (x: string) => `他的${x}。`,
    ]) {
      expect(ALL.text(around(text))).toEqual({ kind: 'masked', value: around(`[${name}]`), names: [name] });
    }
  });

  it.each(NOT_FOUND)('is not %s', (_case, text) => {
    expect(ALL.text(text)).toEqual({ kind: 'clean' });
  });

  it('is only the password of a connection string', () => {
    const value = 'postgres://ann:[secrets]@db.example:5432/shop';
    expect(ALL.text(value.replace('[secrets]', 'p%40ss:w0rd!'))).toMatchObject({ value });
  });

  it('is a private key to the end of the text where it has no end', () => {
    expect(ALL.text(`see\n${PEM.slice(0, 60)}`)).toMatchObject({ value: 'see\n[secrets]' });
  });

  it('is every card among other numbers', () => {
    const value = 'on 2024 11 22 [cards] and [cards] 17';
    expect(ALL.text('on 2024 11 22 4111 1111 1111 1111 and 378282246310005 17')).toMatchObject({ value });
  });

  it('is masked once where findings overlap, and named by all', () => {
    const overlapping = `https://ann:${key('ghp_', 36)}@example.com`;
    expect(ALL.text(overlapping)).toMatchObject({ value: expect.stringMatching(/^https:\/\/ann:\[secrets\]/) });
  });
});

describe('a JSON value', () => {
  it('is screened in every text, key and long number; all else stays', () => {
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

  it('is blocked when it is too deep to look through', () => {
    let deep: JsonValue = 'x';
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(ALL.json(deep)).toMatchObject({ kind: 'blocked' });
  });

  it('is blocked for what is anywhere in it', () => {
    const filter = new ContentFilter([classRule('cards', 'block'), classRule('emails', 'mask')], true);
    expect(filter.json({ a: 'ann@b.example', b: [4111111111111111] })).toEqual({ kind: 'blocked', names: ['cards'] });
  });
});

describe('patterns of one’s own', () => {
  it('are found in linear time, whatever they are and whatever they meet', () => {
    const patterns = [
      { name: 'bomb', pattern: '(a+)+$' },
      { name: 'order', pattern: 'ORD-\\d{6}' },
    ];
    const [bomb, order] = createFinders(patterns);
    const started = performance.now();
    expect(bomb!(`${'a'.repeat(100_000)}!`)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(order!('see ORD-123456 and ORD-654321')).toEqual([
      { start: 4, end: 14 },
      { start: 19, end: 29 },
    ]);
  });

  it('are refused, all at once, where RE2 does not take them or where they match nothing', () => {
    const patterns = ['(?=a)b', '(a)\\1', '(', 'x*'].map((pattern, at) => ({ name: `p${at}`, pattern }));
    const isTold = {
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/"p0".*\n.*"p1".*\n.*"p2".*\n.*"p3".*empty text/s),
    };
    expect(() => createFinders(patterns)).toThrow(expect.objectContaining(isTold));
  });
});

describe('hostile text of a megabyte', () => {
  const MEGABYTE = 1_000_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(MEGABYTE / piece.length)).slice(0, MEGABYTE);
  const letters = ['a', '1', ' ', '-', '@', 'a@', 'a@a.', '1 ', '1-', '4111 ', '4 ', 'AAAA', 'A1 ', '\u0000', '🐦'];
  const beginnings = ['eyJ', 'eyJ-', 'eyJaaaaaaaa.', 'sk-', 'sk-a ', 'a://b:', 'a://', 'DE89 ', 'DE89', '123-45-'];
  const pieces = [...letters, ...beginnings, '-----BEGIN ', '-----BEGIN PRIVATE KEY-----'];

  it.each(pieces)('does not hold anybody up: %j', (piece) => {
    const text = fill(piece);
    const started = performance.now();
    ALL.text(text);
    // Generous, for a busy machine; what is quadratic takes minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it.each(pieces)('nor when it comes in small pieces: %j', (piece) => {
    const text = fill(piece).slice(0, 100_000);
    const stream = new FilteredStream(ALL);
    const started = performance.now();
    for (let at = 0; at < text.length; at += 4) stream.push(text.slice(at, at + 4));
    stream.end();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('a text that comes in pieces', () => {
  const findings = FOUND.map(([, text]) => text);
  const words = [
    'a',
    'and',
    'B2',
    '12',
    '4111',
    'GB82 ',
    '-----',
    '-----BEGIN ',
    ' ',
    '\n',
    '  ',
    '-',
    ', ',
    '他',
    '@',
    '🐦',
  ];
  const texts = fc
    .array(
      fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...findings) },
        fc.constantFrom(...words),
        fc.string({ maxLength: 3 }),
      ),
      {
        maxLength: 10,
      },
    )
    .map((parts) => parts.join(''));
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 });

  /** What is let through after each piece. */
  function* stream(filter: ContentFilter, text: string, sizes: readonly number[]): Generator<string> {
    const filtered = new FilteredStream(filter);
    for (let at = 0, n = 0; at < text.length; at += sizes[n % sizes.length]!, n++) {
      yield filtered.push(text.slice(at, at + sizes[n % sizes.length]!));
    }
    yield filtered.end();
  }

  it('adds up to the masked whole', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const whole = ALL.text(text);
        const expected = whole.kind === 'masked' ? whole.value : text;
        expect([...stream(ALL, text, sizes)].join('')).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it('goes on as it comes, word by word', () => {
    const shown = [...stream(ALL, 'These are a few words that are shown. ', [4])];
    expect(shown.filter((piece) => piece !== '').length).toBeGreaterThan(5);
  });

  it('is held back whole where something may be blocked or own patterns are looked for, and nothing blocked is let through', () => {
    const blocking = new ContentFilter([classRule('emails', 'block')], true);
    expect([...stream(blocking, 'one two ann@b.example three', [4])].join('')).toBe('');
    const own = new ContentFilter([{ name: 'own', find: () => [{ start: 0, end: 3 }], action: 'mask' }], false);
    const shown = [...stream(own, 'one two three', [4])];
    expect([shown.slice(0, -1).join(''), shown.at(-1)]).toEqual(['', '[own] two three']);
  });
});
