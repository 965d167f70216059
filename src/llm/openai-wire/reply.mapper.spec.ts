import { describe, expect, it } from 'vitest';
import { toChatResult } from './reply.mapper.js';

const OWNER = { provider: 'openai-compatible', model: 'asked' };

function read(message: unknown, finish: unknown = 'stop', rest: object = {}) {
  return toChatResult(JSON.stringify({ choices: [{ message, finish_reason: finish }], ...rest }), OWNER);
}

function call(id: unknown, args: unknown) {
  return { id, type: 'function', function: { name: 'add', arguments: args } };
}

function usage(wire: unknown) {
  return read({ content: 'a' }, 'stop', { usage: wire }).usage;
}

describe('toChatResult', () => {
  it('reads content as text, parts or null', () => {
    expect(read({ content: 'a' }).message.content).toBe('a');
    expect(read({ content: null }).message.content).toBe('');
    expect(read({}).message.content).toBe('');
    expect(read({ content: [{ type: 'text', text: 'a' }, { type: 'image' }, 'b'] }).message.content).toBe('ab');
  });

  it('reads reasoning from both field names', () => {
    expect(read({ content: 'a', reasoning_content: 'r' }).message.reasoning).toBe('r');
    expect(read({ content: 'a', reasoning: 'r' }).message.reasoning).toBe('r');
    expect(read({ content: 'a', reasoning_content: null }).message).toEqual({ role: 'assistant', content: 'a' });
  });

  it('returns a refusal as filtered content', () => {
    const { message, finishReason } = read({ content: null, refusal: 'I cannot.' });
    expect([message.content, finishReason]).toEqual(['I cannot.', 'content_filter']);
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['sensitive', 'content_filter'],
    ['tool_calls', 'stop'],
    ['something_new', 'stop'],
    ['constructor', 'stop'],
    [null, 'stop'],
  ])('maps the finish reason %s to %s', (wire, expected) => {
    expect(read({ content: 'a' }, wire).finishReason).toBe(expected);
  });

  it('returns tool calls for any finish reason', () => {
    const message = { content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: '{}' } }] };
    expect(read(message, 'stop').finishReason).toBe('tool_calls');
    expect(read(message, 'length').finishReason).toBe('length');
    expect(read(message, 'content_filter').finishReason).toBe('content_filter');
  });

  it('keeps the opaque fields of each call if a truncated reply has one without a name', () => {
    const signed = (name: string, signature: string) => ({
      function: { name, arguments: '{}', thought_signature: signature },
    });
    const { message } = read({ tool_calls: [signed('', 'a'), signed('b', 'b'), signed('c', 'c')] }, 'length');
    expect(message.toolCalls?.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(message.signedReasoning?.blocks).toEqual([
      { value: { function: { thought_signature: 'b' } }, text: 0, calls: 0 },
      { value: { function: { thought_signature: 'c' } }, text: 0, calls: 1 },
    ]);
  });

  it('keeps the thought signature of each call if a truncated reply has calls without a name', () => {
    const signed = (name: string, signature: string) => ({
      function: { name, arguments: '{}' },
      extra_content: { google: { thought_signature: signature } },
    });
    const { message } = read({ tool_calls: [signed('', 'a'), signed('b', 'b'), signed('', 'c')] }, 'length');
    expect(message.signedReasoning?.blocks).toEqual([{ value: { thought_signature: 'b' }, text: 0, calls: 0 }]);
  });

  it('gives every call a unique id and arguments as text', () => {
    const wire = [call('x', { a: 1 }), call('x', ''), call(null, null), call('', ' '), call('x', '{"a":'), null];
    expect(read({ tool_calls: wire }).message.toolCalls).toEqual([
      { id: 'x', name: 'add', arguments: '{"a":1}' },
      { id: 'x_2', name: 'add', arguments: '{}' },
      { id: 'call_2', name: 'add', arguments: '{}' },
      { id: 'call_3', name: 'add', arguments: '{}' },
      { id: 'x_3', name: 'add', arguments: '{"a":' },
    ]);
  });

  it('drops a call without a name only in a truncated reply', () => {
    const message = { content: 'a', tool_calls: [{ id: 'c', function: { arguments: '{' } }] };
    expect(() => read(message, 'stop')).toThrow('a tool call without a name');
    expect(read(message, 'length').message).toEqual({ role: 'assistant', content: 'a' });
  });

  it('reads cached and reasoning tokens from the fields of OpenAI and DeepSeek', () => {
    const counts = { prompt_tokens: 30, completion_tokens: 40, total_tokens: 70 };
    const details = {
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const sums = { promptTokens: 30, completionTokens: 40, totalTokens: 70 };
    expect(usage({ ...counts, ...details })).toEqual({ ...sums, cachedTokens: 20, reasoningTokens: 5 });
    expect(usage({ ...counts, prompt_cache_hit_tokens: 8 })).toEqual({ ...sums, cachedTokens: 8 });
    expect(usage({ ...counts, prompt_tokens_details: null, prompt_cache_hit_tokens: 'x' })).toEqual(sums);
    expect(usage({ ...counts, prompt_cache_hit_tokens: 99 })).toEqual({ ...sums, cachedTokens: 30 });
  });

  it('reads incomplete usage', () => {
    expect(usage(null)).toBeUndefined();
    expect(usage({ prompt_tokens: 'many' })).toBeUndefined();
    expect(usage({ prompt_tokens: 3, completion_tokens: 4 })).toEqual({
      promptTokens: 3,
      completionTokens: 4,
      totalTokens: 7,
    });
  });
});
