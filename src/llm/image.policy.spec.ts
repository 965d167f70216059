import { describe, expect, it } from 'vitest';
import { fitImages } from './image.policy.js';
import type { Message } from './message.types.js';

const DATA = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' } as const;
const LINK = { type: 'image', url: 'https://a.example/b.png' } as const;
const NOTE = '[An image that this model cannot see]';
const capabilities = (vision: boolean, imageUrls = true) => ({
  vision,
  imageUrls,
  functionCalling: true,
  jsonMode: true,
});
const plain: Message = { role: 'user', content: 'x' };
const shows: Message = { role: 'tool', toolCallId: 'c', name: 'plot', content: 'done', images: [DATA, LINK] };

describe('fitImages', () => {
  it('returns the same messages if the model can read all images', () => {
    const messages = [plain, shows, { role: 'user', content: [DATA] } as const];
    expect(fitImages(messages, capabilities(true))).toBe(messages);
    expect(fitImages([plain], capabilities(false))).toEqual([plain]);
  });

  it('replaces images by notes for a model without vision, in user messages and results', () => {
    const said: Message = { role: 'user', content: [DATA, { type: 'text', text: 'what?' }] };
    expect(fitImages([plain, said, shows], capabilities(false))).toEqual([
      plain,
      {
        role: 'user',
        content: [
          { type: 'text', text: NOTE },
          { type: 'text', text: 'what?' },
        ],
      },
      { role: 'tool', toolCallId: 'c', name: 'plot', content: `done\n${NOTE}\n${NOTE}` },
    ]);
  });

  it('keeps the images that the model can read', () => {
    expect(fitImages([shows], capabilities(true, false))).toEqual([
      { ...shows, content: `done\n${NOTE}`, images: [DATA] },
    ]);
  });
});

/** A GIF of the given size. */
function gif(width: number, height = 1, label = 'image/gif') {
  const bytes = Buffer.from('GIF89a\0\0\0\0');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return { type: 'image', url: `data:${label};base64,${bytes.toString('base64')}` } as const;
}

describe('the images of a request', () => {
  const seeing = capabilities(true);

  it('get the media type of their bytes, also in a session that has stored another one', () => {
    const stored = [{ role: 'user', content: [gif(3, 3, 'image/png'), LINK] } as const, { ...shows, images: [gif(1)] }];
    expect(fitImages(stored, seeing)).toEqual([{ role: 'user', content: [gif(3, 3), LINK] }, stored[1]]);
    const capital = { ...gif(3), url: gif(3).url.replace('data', 'DATA') };
    expect(fitImages([{ role: 'user', content: [capital] }], capabilities(true, false))).toEqual([
      { role: 'user', content: [gif(3)] },
    ]);
  });

  it('are replaced by a note if their bytes are not an image', () => {
    const page = { type: 'image', url: 'data:image/png;base64,PGh0bWw+' } as const;
    const [said] = fitImages([{ role: 'user', content: [page] }], seeing);
    expect(said?.content).toMatchObject([{ text: expect.stringMatching(/^\[An image that cannot be read: .*PNG/) }]);
  });

  it.each([
    [{ maxSide: 8000 }, gif(8001), gif(8000, 8000), '8001 x 1 pixels'],
    [{ maxSide: 8000 }, gif(1, 8001), gif(1), '1 x 8001 pixels'],
    [{ maxBase64Bytes: 12 }, gif(1), DATA, '16 bytes'],
    [{ mediaTypes: ['image/png'] }, gif(1), DATA, 'it is image/gif'],
  ])('are replaced by a note beyond the limits %j of a provider', (imageLimits, beyond, within, reason) => {
    const limited = { ...seeing, imageLimits };
    const [said] = fitImages([{ role: 'user', content: [beyond, within, LINK] }], limited);
    expect(said?.content).toEqual([{ type: 'text', text: expect.stringContaining(reason) }, within, LINK]);
  });

  it('keep the latest ones if a request has too many', () => {
    const turns = Array.from({ length: 4 }, (_, at) => ({ role: 'user', content: [gif(at + 1)] }) as const);
    const retained = (imageLimits: object) =>
      fitImages(turns, { ...seeing, imageLimits }).map(({ content }) => (content[0] as { type: string }).type);
    expect(retained({ maxCount: 3 })).toEqual(['text', 'image', 'image', 'image']);
    expect(retained({ crowd: { above: 2, maxSide: 3 } })).toEqual(['text', 'text', 'image', 'image']);
    expect(retained({ crowd: { above: 2, maxSide: 4 } })).toEqual(['image', 'image', 'image', 'image']);
  });
});
