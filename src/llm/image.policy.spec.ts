import { describe, expect, it } from '@jest/globals';
import { fitImages } from './image.policy.js';
import type { Message } from './message.types.js';

const DATA = { type: 'image', url: 'data:image/png;base64,AAAA' } as const;
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
  it('gives the same messages to a model that reads them all', () => {
    const messages = [plain, shows, { role: 'user', content: [DATA] } as const];
    expect(fitImages(messages, capabilities(true))).toBe(messages);
    expect(fitImages([plain], capabilities(false))).toEqual([plain]);
  });

  it('tells a model that cannot see what it cannot see, in what users say and in results', () => {
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

  it('leaves a model what it can read', () => {
    expect(fitImages([shows], capabilities(true, false))).toEqual([
      { ...shows, content: `done\n${NOTE}`, images: [DATA] },
    ]);
  });
});
