import { describe, expect, it } from 'vitest';
import type { Message } from '../message.types.js';
import { toWireMessage, toWireMessages } from './message.mapper.js';

const calls = [{ id: 'c1', name: 'add', arguments: '{ "a" : 1 }' }];

describe('toWireMessage', () => {
  it('does not change content', () => {
    const content = '  Observation: <x>\n\u0000 "é" 你好 \\n  ';
    for (const role of ['system', 'user', 'assistant'] as const) {
      expect(toWireMessage({ role, content }, 'never')).toEqual({ role, content });
    }
    const tool: Message = { role: 'tool', toolCallId: 'c1', name: 'add', content };
    expect(toWireMessage(tool, 'never')).toEqual({ role: 'tool', tool_call_id: 'c1', content });
    const parts: Message = { role: 'user', content: [{ type: 'text', text: content }] };
    expect(toWireMessage(parts, 'never')).toEqual({ role: 'user', content: [{ type: 'text', text: content }] });
  });

  it('writes call arguments unchanged, and no empty content beside calls', () => {
    expect(toWireMessage({ role: 'assistant', content: '', toolCalls: calls }, 'never')).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{ "a" : 1 }' } }],
    });
    expect(toWireMessage({ role: 'assistant', content: 'Now', toolCalls: calls }, 'never').content).toBe('Now');
    expect(toWireMessage({ role: 'assistant', content: '', toolCalls: [] }, 'never')).toEqual({
      role: 'assistant',
      content: '',
    });
  });

  it('sends reasoning back as the provider requires', () => {
    const plain: Message = { role: 'assistant', content: 'a', reasoning: 'because' };
    const silent: Message = { role: 'assistant', content: '', toolCalls: calls };
    expect(toWireMessage(plain, 'never').reasoning_content).toBeUndefined();
    expect(toWireMessage(plain, 'present').reasoning_content).toBe('because');
    expect(toWireMessage(silent, 'present').reasoning_content).toBeUndefined();
    expect(toWireMessage(silent, 'with_calls').reasoning_content).toBe('');
  });
});

describe('toWireMessages', () => {
  it('sends the reasoning of all answers back in a turn with calls', () => {
    const ask: Message = { role: 'user', content: 'x' };
    const answer: Message = { role: 'assistant', content: 'done' };
    const call: Message = { role: 'assistant', content: '', toolCalls: calls };
    const got: Message = { role: 'tool', toolCallId: 'c1', name: 'add', content: '3' };
    const wire = toWireMessages([ask, answer, ask, call, got, answer, ask, answer], 'with_calls');
    expect(wire.flatMap((message, at) => (message.reasoning_content === '' ? [at] : []))).toEqual([3, 5]);
  });

  const url = 'data:image/png;base64,iVBORw0KGgo=';
  const result = (toolCallId: string, name: string, ...urls: string[]): Message => ({
    role: 'tool',
    toolCallId,
    name,
    content: 'done',
    ...(urls.length > 0 && { images: urls.map((one) => ({ type: 'image', url: one })) }),
  });
  const picture = (one: string) => ({ type: 'image_url', image_url: { url: one } });

  it('adds the images of tools after the results of one reply, with the names of the tools', () => {
    const asks: Message = { role: 'assistant', content: '', toolCalls: [] };
    const answer: Message = { role: 'assistant', content: 'ok' };
    const results = [
      result('c1', 'plot', url, 'https://a.example/b.png'),
      result('c2', 'add'),
      result('c3', 'photo', url),
    ];
    const wire = toWireMessages([asks, ...results, answer], 'never');
    expect(wire.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'tool', 'user', 'assistant']);
    expect(wire[1]).toEqual({ role: 'tool', tool_call_id: 'c1', content: 'done' });
    expect(wire[4]?.content).toEqual([
      { type: 'text', text: '[What tool plot shows, call c1]' },
      picture(url),
      picture('https://a.example/b.png'),
      { type: 'text', text: '[What tool photo shows, call c3]' },
      picture(url),
    ]);
  });

  it('adds images at the end, too, and nothing without images', () => {
    expect(toWireMessages([result('c1', 'plot', url)], 'never').at(-1)?.role).toBe('user');
    expect(toWireMessages([result('c1', 'plot')], 'never')).toHaveLength(1);
  });
});
