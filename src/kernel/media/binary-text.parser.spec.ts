import { describe, expect, it } from 'vitest';
import { mediaTypeOf, parseBinaryField, parseBinaryText } from './binary-text.parser.js';

const BYTES = Buffer.from(Array.from({ length: 1200 }, (_, at) => (at * 7) % 256));
const BASE64 = BYTES.toString('base64');

describe('parseBinaryText', () => {
  it('reads long base64 whose bytes are no text, also in lines and for URLs', () => {
    const lines = BASE64.replace(/.{76}/g, '$&\r\n');
    const forUrls = BYTES.toString('base64url');
    expect([BASE64, lines, forUrls].map((text) => parseBinaryText(text)?.bytes.equals(BYTES))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it.each([
    ['short base64', Buffer.from([255, 0, 1]).toString('base64')],
    ['base64 of a text', Buffer.from('word '.repeat(400)).toString('base64')],
    ['a long text', 'A text of words, '.repeat(100)],
    ['a list of words', 'apple\nfig\nbanana\npear\n'.repeat(60)],
    ['base64 of an invalid length', `${BASE64.slice(0, -4)}A`],
    ['a line of an event stream', 'data: {"a": 1, "b": 2}'],
    ['a line of one letter', 'x'.repeat(4000)],
    ['words joined by hyphens', 'red-green-blue-'.repeat(100)],
    ['a sentence', 'data:, nothing'],
  ])('leaves %s as it is', (_what, text) => expect(parseBinaryText(text)).toBeNull());

  it('reads data URLs of every length and encoding', () => {
    expect(parseBinaryText('data:application/pdf;base64,JVBERi0=')).toEqual({
      mediaType: 'application/pdf',
      bytes: Buffer.from('%PDF-'),
      prefix: 'data:application/pdf;base64,',
    });
    expect(parseBinaryText('data:text/html;charset=utf-8,%3Cp%3E')).toEqual({
      mediaType: 'text/html',
      bytes: Buffer.from('<p>'),
      prefix: 'data:text/html;charset=utf-8;base64,',
    });
    expect(parseBinaryText('data:image/png;base64,not base64!')?.bytes.toString()).toBe('not base64!');
  });
});

describe('parseBinaryField', () => {
  it('reads base64 of every length, and no other text', () => {
    expect(parseBinaryField('AAEC')?.bytes).toEqual(Buffer.from([0, 1, 2]));
    expect(parseBinaryField('AAEC\n AQ')?.bytes).toEqual(Buffer.from([0, 1, 2, 1]));
    expect(parseBinaryField('no base64!')).toBeNull();
    expect(parseBinaryField('')).toBeNull();
  });
});

/** In ms; many times what linear parsers take. */
const LIMIT = 20_000;

// A timer after the parser: the time limit of a test whose parser blocked the event loop fires before it.
describe('parsers of untrusted texts', () => {
  it(
    'read padding in the middle of a long text in linear time',
    async () => {
      expect(parseBinaryField(`${'='.repeat(300_000)}A`)).toBeNull();
      await new Promise((resolve) => setTimeout(resolve));
    },
    LIMIT,
  );

  it(
    'read many labels of white space in linear time',
    async () => {
      const label = `data:${' '.repeat(1000)}`;
      let parsed: unknown;
      for (let count = 0; count < 10_000; count++) parsed = parseBinaryText(label);
      expect(parsed).toBeNull();
      await new Promise((resolve) => setTimeout(resolve));
    },
    LIMIT,
  );
});

describe('mediaTypeOf', () => {
  it('lets the bytes decide on images, and the declaration on other content', () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    expect(mediaTypeOf(png, 'text/html')).toBe('image/png');
    expect(mediaTypeOf(Buffer.from('<p>'), 'image/png')).toBe('application/octet-stream');
    expect(mediaTypeOf(BYTES, 'Application/X-Own; a=b')).toBe('application/x-own');
    expect(mediaTypeOf(Buffer.from('%PDF-1.7'), 'a broken type')).toBe('application/pdf');
  });
});
