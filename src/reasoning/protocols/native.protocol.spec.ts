import { describe, expect, it } from 'vitest';
import { assert, constantFrom, integer, pre, property, string } from 'fast-check';
import type { ChatResult } from '../../llm/chat/index.js';
import { NativeProtocol } from './native.protocol.js';

function reply(count: number): ChatResult {
  const toolCalls = Array.from({ length: count }, (_, i) => ({ id: `c${i + 1}`, name: 'look', arguments: '{}' }));
  return { message: { role: 'assistant', content: '', toolCalls }, finishReason: 'tool_calls', model: 'm' };
}

describe('a text', () => {
  const protocol = new NativeProtocol();

  it('is unchanged unless it starts with <think>, in one piece and in any pieces', () => {
    const starts = constantFrom('', ' \n', '```', '```js\n', '<', '<thi', '<thought>', 'a <think>b</think>');
    assert(
      property(starts, string(), integer({ min: 1, max: 4 }), (start, rest, length) => {
        const content = start + rest;
        pre(!/^\s*(?:```.*\s*)?<think(?:ing)?>/i.test(content));
        const decoded = protocol.decode({ message: { role: 'assistant', content }, finishReason: 'stop', model: 'm' });
        expect([decoded.text, decoded.thought]).toEqual([content, '']);
        const stream = protocol.decodeStream();
        let shown = '';
        for (let at = 0; at < content.length; at += length) shown += stream.push(content.slice(at, at + length));
        expect(shown + stream.end()).toBe(content);
      }),
    );
  });
});

describe('a reply that starts with <think> and has no end tag', () => {
  const protocol = new NativeProtocol();
  const toolCalls = [{ id: 'c', name: 'look', arguments: '{}' }];

  it.each([
    ['is its text when complete', 'stop', '<think>', '<think>'],
    ['is its text with its spaces', 'stop', ' \n<Thinking> is a tag\n</thi', ' \n<Thinking> is a tag\n</thi'],
    ['is its text with its fence', 'stop', '```xml\n<think>\n a\n```', '```xml\n<think>\n a\n```'],
    ['is its text after a thought', 'stop', '<think>a</think>\n<think> b', '<think> b'],
    ['is a thought when cut', 'length', '<think> why', ''],
    ['is a thought before calls', 'tool_calls', '<think> why', ''],
  ] as const)('%s', (_title, finishReason, content, text) => {
    const calls = finishReason === 'tool_calls' ? { toolCalls } : {};
    const whole: ChatResult = { message: { role: 'assistant', content, ...calls }, finishReason, model: 'm' };
    const decoded = protocol.decode(whole);
    expect(decoded.text).toBe(text);
    expect(decoded.thought).toBe(text === content ? '' : content.includes('why') ? 'why' : 'a');
    for (const length of [1, 3, 100]) {
      const stream = protocol.decodeStream();
      let shown = '';
      for (let at = 0; at < content.length; at += length) shown += stream.push(content.slice(at, at + length));
      expect(shown + stream.end(whole)).toBe(text);
    }
  });
});

describe('a reply with many calls', () => {
  const protocol = new NativeProtocol();

  it('is read up to the first call beyond the limit, which reports that', () => {
    const { calls, message } = protocol.decode(reply(5_000));
    expect(calls).toHaveLength(1_001);
    expect(new Set(calls.slice(0, 1_000).map((call) => call.arguments))).toEqual(new Set(['{}']));
    expect(calls.at(-1)).toEqual({ id: 'c1001', name: 'look', arguments: 'Over 1000 calls' });
    expect(message.toolCalls).toEqual(calls);
  });

  it('is read unchanged up to the limit', () => {
    expect(protocol.decode(reply(1_000)).calls).toEqual(reply(1_000).message.toolCalls);
  });
});
