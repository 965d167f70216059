import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setFlagsFromString } from 'node:v8';
import { isBase64, isBase64Url } from './base64.policy.js';
import { parseBinaryField, parseBinaryText } from './binary-text.parser.js';
import { parseImage } from './image.parser.js';

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
