import { describe, expect, it } from 'vitest';
import { toTemplateMessages } from './chat-template.mapper.js';
import type { WireRequestMessage } from './message.mapper.js';

type User = Extract<WireRequestMessage, { role: 'user' }>;

const user = (content: User['content']): WireRequestMessage => ({ role: 'user', content });
const answer = (content: string): WireRequestMessage => ({ role: 'assistant', content });
const system = (content: string): WireRequestMessage => ({ role: 'system', content });
const result: WireRequestMessage = { role: 'tool', tool_call_id: 'a', content: '3' };
const calling = (content: string | null, args = '{}'): WireRequestMessage => ({
  role: 'assistant',
  content,
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'add', arguments: args } }],
});

describe('toTemplateMessages', () => {
  it('does not change messages in turns', () => {
    const messages = [system('s'), user('u'), calling(null), result, result, answer('x'), user('v')];
    expect(toTemplateMessages(messages)).toEqual(messages);
  });

  it('joins system messages at the start', () => {
    expect(toTemplateMessages([system('a'), user('u'), answer('x'), system('b'), user('v')])).toEqual([
      system('a\n\nb'),
      user('u'),
      answer('x'),
      user('v'),
    ]);
  });

  it('joins messages of one role', () => {
    expect(toTemplateMessages([user('a'), user('b'), answer('x'), answer('y')])).toEqual([
      user('a\n\nb'),
      answer('x\n\ny'),
    ]);
    const image = { type: 'image_url' as const, image_url: { url: 'https://a.example/b.png' } };
    expect(toTemplateMessages([user('a'), user([image])])).toEqual([user([{ type: 'text', text: 'a' }, image])]);
    expect(toTemplateMessages([user('a'), answer('x'), calling(null)])).toEqual([user('a'), calling('x')]);
    expect(toTemplateMessages([calling(null), result, calling(null), result])).toHaveLength(4);
  });

  it('writes an answer between results and the user', () => {
    expect(toTemplateMessages([user('a'), calling(null), result, user('b')]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('leaves out empty messages', () => {
    expect(toTemplateMessages([user('a'), answer(''), user([]), user('b')])).toEqual([user('a\n\nb')]);
    expect(toTemplateMessages([{ ...result, content: '' }])).toHaveLength(1);
  });

  it('wraps arguments that are no JSON object', () => {
    for (const text of ['{"a":', '[1]', 'null', '"x"']) {
      expect(toTemplateMessages([calling(null, text)])).toEqual([calling(null, JSON.stringify({ arguments: text }))]);
    }
  });
});
