import { expect, it } from 'vitest';
import type { Message } from '../chat/message.types.js';
import { countMessages } from './token-estimate.mapper.js';
import type { TokenCounter } from './token-counter.js';

const perCharacter: TokenCounter = { isExact: true, count: (text) => text.length };
const AROUND = 4;

it.each<[string, Message, number]>([
  ['a system message', { role: 'system', content: 'abc' }, AROUND + 3],
  ['a user message', { role: 'user', content: 'abcd' }, AROUND + 4],
  [
    'parts',
    {
      role: 'user',
      content: [
        { type: 'text', text: 'ab' },
        { type: 'text', text: 'c' },
      ],
    },
    AROUND + 3,
  ],
  [
    'a picture, wherever it is',
    {
      role: 'user',
      content: [
        { type: 'image', url: `data:image/png;base64,${'A'.repeat(10_000)}` },
        { type: 'text', text: 'c' },
      ],
    },
    AROUND + 1000 + 1,
  ],
  [
    'a picture in a result',
    {
      role: 'tool',
      toolCallId: 'c',
      name: 'ab',
      content: 'c',
      images: [{ type: 'image', url: 'https://a.example/b' }],
    },
    AROUND + 1 + 2 + 1 + 1000,
  ],
  ['an answer', { role: 'assistant', content: 'ab', reasoning: 'cde' }, AROUND + 5],
  [
    'calls',
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'call_1', name: 'now', arguments: '{}' },
        { id: '2', name: 'x', arguments: '' },
      ],
    },
    AROUND + (5 + 3 + 2) + (5 + 1),
  ],
  ['a result', { role: 'tool', toolCallId: 'call_1', name: 'now', content: 'noon' }, AROUND + 1 + 3 + 4],
])('counts the content of %s and its overhead', (_, message, tokens) => {
  expect(countMessages(perCharacter, [message])).toBe(tokens);
  expect(countMessages(perCharacter, [message, message])).toBe(2 * tokens);
});

it('counts zero for no messages', () => {
  expect(countMessages(perCharacter, [])).toBe(0);
});
