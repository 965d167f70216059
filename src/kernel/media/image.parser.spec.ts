import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setFlagsFromString } from 'node:v8';
import { cpuMs } from '../../../test/support/cpu-time.js';
import { parseBinaryField, parseBinaryText } from './binary-text.parser.js';
import { isBase64, isBase64Url, parseImage } from './image.parser.js';

const uri = (bytes: readonly number[] | string, label = 'image/png') =>
  `data:${label};base64,${Buffer.from(bytes as string, 'latin1').toString('base64')}`;
const PNG = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0, 0, 7];
const FRAME = [0xff, 0xc2, 0, 17, 8, 0, 30, 1, 44, 3];
const JPEG = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xff, 0xc4, 0, 3, 9, ...FRAME];
const GIF = [...Buffer.from('GIF89a'), 5, 0, 4, 1];
const webp = (kind: string, rest: readonly number[]) =>
  Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, 'latin1').toString('latin1') + String.fromCharCode(...rest);
const LOSSY = webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1]);
const LOSSLESS = webp('VP8L', [0x2f, 0x3f, 0xc0, 7, 0, 0, 0, 0, 0, 0]);
const EXTENDED = webp('VP8X', [0, 0, 0, 0, 0xff, 0, 1, 0x1f, 0, 0]);

describe('parseImage', () => {
  it('reads https URLs', () => {
    const url = 'https://example.com/a.png?x=1';
    expect(parseImage(url)).toEqual({ kind: 'url', url });
  });

  it.each([
    ['PNG', PNG, 'image/png', { width: 256, height: 7 }],
    ['JPEG', JPEG, 'image/jpeg', { width: 300, height: 30 }],
    ['GIF', GIF, 'image/gif', { width: 5, height: 260 }],
    ['lossy WebP', LOSSY, 'image/webp', { width: 640, height: 480 }],
    ['lossless WebP', LOSSLESS, 'image/webp', { width: 64, height: 32 }],
    ['extended WebP', EXTENDED, 'image/webp', { width: 65_792, height: 32 }],
  ])('recognises a %s by its bytes, whatever its label', (_name, bytes, mediaType, size) => {
    for (const label of [mediaType, 'image/png', 'image/jpg', 'IMAGE/JPEG; charset=utf-8', 'text/html', '']) {
      const image = parseImage(uri(bytes, label));
      expect(image).toMatchObject({ kind: 'data', mediaType, size, bytes: bytes.length, url: uri(bytes, mediaType) });
    }
  });

  it('reads the size of a JPEG behind long metadata', () => {
    const segment = [0xff, 0xe1, 0xff, 0xff, ...Array.from({ length: 65_533 }, () => 0)];
    const bytes = [0xff, 0xd8, ...segment, ...segment, ...FRAME];
    expect(parseImage(uri(bytes))).toMatchObject({ mediaType: 'image/jpeg', size: { width: 300, height: 30 } });
  });

  it.each([
    ['PNG', PNG.slice(0, 8)],
    ['JPEG', JPEG.slice(0, 12)],
    ['JPEG', [...JPEG.slice(0, 4), 0, 0]],
    ['GIF', GIF.slice(0, 7)],
    ['WebP', [...Buffer.from(LOSSY.slice(0, 20), 'latin1')]],
    [
      'WebP',
      [
        ...Buffer.from(
          webp(
            'ABCD',
            Array.from({ length: 10 }, () => 0),
          ),
          'latin1',
        ),
      ],
    ],
  ])('accepts a %s without its size', (_name, bytes) => {
    const image = parseImage(uri(bytes));
    expect(image).toMatchObject({ kind: 'data' });
    expect(image).not.toHaveProperty('size');
  });

  it('reads other spellings of base64 and of the label, and gives the standard one', () => {
    const bytes = [...PNG, 0xfb, 0xff, 0xfe, 0xff];
    const standard = uri(bytes);
    const data = standard.slice(standard.indexOf(',') + 1);
    expect(data).toMatch(/\+.*\/.*=$/);
    const spellings = [
      data.replaceAll('+', '-').replaceAll('/', '_'),
      data.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''),
      data.replace('=', ''),
      `\n${data.slice(0, 8)}\r\n ${data.slice(8)}\t`,
      encodeURIComponent(data),
    ];
    for (const text of spellings) {
      expect(parseImage(`data:image/png;base64,${text}`)).toMatchObject({ url: standard, bytes: 28 });
    }
    for (const label of ['DATA:image/png;base64,', ' data:IMAGE/PNG;BASE64,', 'data:;base64,']) {
      expect(parseImage(label + data)).toMatchObject({ url: standard });
    }
  });

  it.each([
    ['http://example.com/a.png', 'https'],
    ['file:///etc/passwd', 'https'],
    ['a.png', 'https'],
    ['', 'https'],
    ['https://u:p@example.com/', 'password'],
    [`https://example.com/${'x'.repeat(2048)}`, '2048'],
    ['data:image/svg+xml;base64,AAAA', 'PNG, JPEG, GIF or WebP'],
    ['data:image/png;base64,AAAA', 'PNG, JPEG, GIF or WebP'],
    [uri('<html>'), 'PNG, JPEG, GIF or WebP'],
    ['data:text/html,hi', 'base64'],
    ['data:image/png', 'base64'],
    ['data:image/png;base64,', 'base64'],
    ['data:image/png;base64,AAAAA', 'base64'],
    ['data:image/png;base64,A!AA', 'base64'],
    ['data:image/png;base64,A===', 'base64'],
  ])('describes the mistake in %s', (url, words) => {
    expect(parseImage(url)).toContain(words);
  });

  it('reads a long data URI in linear time', () => {
    const bytes = Buffer.concat([Buffer.from(JPEG.slice(0, 6)), Buffer.alloc(6_000_000)]);
    const url = `data:image/png;base64,${bytes.toString('base64url')}`;
    expect(cpuMs(() => expect(parseImage(url)).toMatchObject({ bytes: 6_000_006 }))).toBeLessThan(1000);
  });
});

// As in a process with much compiled code, where V8 stores each position of a repetition.
beforeAll(() => setFlagsFromString('--no-regexp-optimization'));
afterAll(() => setFlagsFromString('--regexp-optimization'));

describe('isBase64', () => {
  it.each(['', 'A', 'AZaz09+/', 'QQ==', 'QUE='])('accepts %j', (text) => expect(isBase64(text)).toBe(true));

  it.each(['A===', 'A=A', '-', '_', 'A A', 'é'])('rejects %j', (text) => expect(isBase64(text)).toBe(false));
});

describe('isBase64Url', () => {
  it.each(['AZaz09-_', 'QQ=='])('accepts %j', (text) => expect(isBase64Url(text)).toBe(true));

  it.each(['+', '/', 'A==='])('rejects %j', (text) => expect(isBase64Url(text)).toBe(false));
});

describe('a text of millions of characters', () => {
  const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xfb]), Buffer.alloc(6_000_000)]);

  it('shows that V8 throws for a repetition', () => {
    expect(() => /^[A-Za-z0-9+/]+$/.test('x'.repeat(5_000_000))).toThrow(RangeError);
  });

  it.each(['base64', 'base64url'] as const)('is read as an image in %s', (encoding) => {
    expect(parseImage(`data:image/jpeg;base64,${jpeg.toString(encoding)}`)).toMatchObject({ bytes: 6_000_006 });
  });

  it.each(['base64', 'base64url'] as const)('is read as binary content in %s', (encoding) => {
    const text = jpeg.toString(encoding);
    expect(parseBinaryField(text)?.bytes).toHaveLength(6_000_006);
    expect(parseBinaryText(`data:image/jpeg;base64,${text}`)?.bytes).toHaveLength(6_000_006);
  });

  it('is no binary content if it repeats one letter', () => {
    expect(parseBinaryText('x'.repeat(5_000_000))).toBeNull();
  });

  it('is read without its white space', () => {
    expect(parseBinaryField(`QUJD${' '.repeat(5_000_000)}`)?.bytes.toString()).toBe('ABC');
  });
});
