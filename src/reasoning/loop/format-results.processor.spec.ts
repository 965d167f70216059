import { expect, it } from 'vitest';
import type { Message } from '../../llm/chat/index.js';
import { makeImageRoom } from './format-results.processor.js';

const NOTE = '[An image that was shown here made room for later ones]';
const image = (bytes: number) => {
  return { type: 'image' as const, url: `data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}` };
};
const LINK = { type: 'image' as const, url: 'https://a.example/b.png' };
const shows = (content: string, ...images: (typeof LINK)[]): Message => {
  return { role: 'tool', toolCallId: 'c', name: 'plot', content, ...(images.length > 0 && { images }) };
};
const USER: Message = { role: 'user', content: [image(9), { type: 'text', text: 'x' }] };

it('makeImageRoom leaves a turn within the limit unchanged', () => {
  const turn = [USER, shows('a', image(3)), shows('b'), shows('c', LINK, image(3))];
  const before = [...turn];
  makeImageRoom(turn, 6);
  expect(turn.every((message, at) => message === before[at])).toBe(true);
});

it('makeImageRoom replaces earlier images with a note to make room for later ones', () => {
  const turn = [USER, shows('a', LINK, image(3)), shows('b', image(3), image(4)), shows('c', image(2))];
  makeImageRoom(turn, 6);
  expect(turn).toEqual([USER, shows(`a\n${NOTE}`, LINK), shows(`b\n${NOTE}`, image(3)), shows('c', image(2))]);
});

it('makeImageRoom retains at most the images that a request may have', () => {
  const turn = [shows('a', LINK, LINK), shows('b', ...Array.from({ length: 19 }, () => LINK))];
  makeImageRoom(turn, 6);
  expect(turn[0]).toEqual(shows(`a\n${NOTE}`, LINK));
});
