import { describe, expect, it } from 'vitest';
import { toMcpResult } from './mcp-result.mapper.js';

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xfb, 0xff]);
const URI = `data:image/jpeg;base64,${JPEG.toString('base64')}`;
const resultOf = (data: string, mimeType: string) =>
  toMcpResult({ content: [{ type: 'image', data, mimeType }] }, 'draw');

describe('an image of an MCP result', () => {
  it.each([
    [JPEG.toString('base64'), 'image/png'],
    [JPEG.toString('base64url'), 'image/jpg'],
    [JPEG.toString('base64').replace(/(.{4})/g, '$1\n'), 'IMAGE/JPEG'],
    [`data:image/png;base64,${JPEG.toString('base64')}`, 'image/webp'],
    [JPEG.toString('base64'), 'application/octet-stream'],
  ])('has the media type of its bytes, given as %j with %s', (data, mimeType) => {
    expect(resultOf(data, mimeType)).toMatchObject({ value: '[Image, image/jpeg]', images: [URI] });
  });

  it('of a kind that no model sees is other binary content', () => {
    const { images, content } = resultOf('PHN2Zz4=', 'image/svg+xml');
    expect({ images, content }).toEqual({
      images: [],
      content: { text: [{ bytes: Buffer.from('<svg>'), mediaType: 'image/svg+xml' }] },
    });
  });

  it.each([
    ['not base64!', 'image/png'],
    ['', 'image/png'],
  ])('is a note for the model when it cannot be read: %j', (data, mimeType) => {
    const { value, images } = resultOf(data, mimeType);
    expect(images).toEqual([]);
    expect(value).toMatch(new RegExp(`^\\[Image, ${mimeType.replace('+', '\\+')}, omitted: .+\\]$`));
  });
});
