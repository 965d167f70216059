import { describe, expect, it } from '@jest/globals';
import { parseImage } from './image.parser.js';

describe('parseImage', () => {
  it('reads https URLs', () => {
    const url = 'https://example.com/a.png?x=1';
    expect(parseImage(url)).toEqual({ kind: 'url', url });
  });

  it.each([
    ['data:image/png;base64,AAAA', 'image/png', 3],
    ['data:image/jpeg;base64,AAAAAA==', 'image/jpeg', 4],
    ['data:image/webp;base64,AAAAAAA=', 'image/webp', 5],
  ])('reads %s', (url, mediaType, bytes) => {
    expect(parseImage(url)).toEqual({ kind: 'data', mediaType, bytes, data: url.split(',')[1] });
  });

  it.each([
    ['http://example.com/a.png', 'https'],
    ['file:///etc/passwd', 'https'],
    ['a.png', 'https'],
    ['', 'https'],
    ['https://u:p@example.com/', 'password'],
    [`https://example.com/${'x'.repeat(2048)}`, '2048'],
    ['data:image/svg+xml;base64,AAAA', 'jpeg'],
    ['data:text/html,hi', 'jpeg'],
    ['DATA:image/png;base64,AAAA', 'jpeg'],
    ['data:image/png;base64,', 'base64'],
    ['data:image/png;base64,AAA', 'base64'],
    ['data:image/png;base64,AA A', 'base64'],
    ['data:image/png;base64,A===', 'base64'],
  ])('describes the mistake in %s', (url, words) => {
    expect(parseImage(url)).toContain(words);
  });

  it('reads a long data URI in linear time', () => {
    const url = `data:image/png;base64,${'A'.repeat(8_000_000)}`;
    const before = performance.now();
    expect(parseImage(url)).toMatchObject({ bytes: 6_000_000 });
    expect(performance.now() - before).toBeLessThan(1000);
  });
});
