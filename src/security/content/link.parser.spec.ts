import { describe, expect, it } from 'vitest';
import { ContentFilter } from './content.filter.js';
import { FilteredStream } from './filtered-stream.builder.js';
import { findLinks } from './link.parser.js';

const filter = new ContentFilter([{ name: 'links', find: findLinks, action: 'mask' }]);
const masked = (text: string) => {
  const filtered = filter.text(text);
  return filtered.kind === 'masked' ? filtered.value : text;
};

describe('links and images of an answer', () => {
  it.each([
    ['![x](https://evil.example/?k=1)', '[links]'],
    ['![x][1]', '[links]'],
    ['[click](https://evil.example/?k=1) now', '[click[links] now'],
    ['[click](//evil.example/?k=1)', '[click[links]'],
    ['[1]: https://evil.example/k', '[1[links]'],
    ['<img alt="" src=//evil.example/k>', '[links]'],
    ['see https://evil.example/k, or <https://evil.example/k>', 'see [links] or <[links]>'],
    ['HTTPS:\\\\evil.example\\k', '[links]'],
    ['mail to mailto:eve@evil.example?body=k', 'mail to [links]'],
    ['www.evil.example/k', '[links]'],
    ['evil.example/?k=1', '[links]'],
    ['{"url":"https:\\/\\/evil.example\\/k"}', '{"url":"[links]"}'],
  ])('are masked: %s', (text, expected) => expect(masked(text)).toBe(expected));

  it.each([
    'A plain text: 1/2, a/b, and x.y',
    'if (a < b && c > d) return [1](2',
    'Array<string> in src/app.module.ts',
  ])('are not found in %s', (text) => expect(filter.text(text).kind).toBe('clean'));

  it('are masked in a stream of single characters, which does not wait for its end', () => {
    const stream = new FilteredStream(filter);
    const words = 'word '.repeat(600);
    const text = `${words}![x](https://evil.example/?k=1) and [a](https://evil.example/b). ${words}`;
    const pieces = Array.from(text, (piece) => stream.push(piece));
    expect(pieces.join('').length).toBeGreaterThan(words.length);
    expect([...pieces, stream.end()].join('')).toBe(masked(text));
  });
});
