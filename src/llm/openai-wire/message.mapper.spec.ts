import { describe, expect, it } from 'vitest';
import type { Message } from '../chat/message.types.js';
import {
  mergeFields,
  opaqueOfCall,
  opaqueOfMessage,
  returnedFields,
  toSignedReasoning,
  toWireMessage,
  toWireMessages,
} from './message.mapper.js';

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

const OWNER = { provider: 'openai-compatible', model: 'm' };
const details = (...list: readonly object[]) => ({ reasoning_details: list });

describe('opaque fields', () => {
  it('are those of a gateway, and not empty ones', () => {
    const fields = { reasoning_details: [], thinking_blocks: null, provider_specific_fields: { refusal: null } };
    expect(opaqueOfMessage({ content: 'x', ...fields })).toBeUndefined();
    expect(opaqueOfMessage({ content: 'x', thinking_blocks: [{}] })).toEqual({ thinking_blocks: [{}] });
    expect(opaqueOfCall({ function: null })).toBeUndefined();
  });

  it.each<[string, object, object, readonly object[]]>([
    [
      'pieces of a text',
      { type: 't', text: 'a', index: 0 },
      { type: 't', text: 'b', index: 0 },
      [{ type: 't', text: 'ab', index: 0 }],
    ],
    [
      'pieces without an index',
      { type: 't', text: 'a' },
      { type: 't', text: 'b', format: 'f' },
      [{ type: 't', text: 'ab', format: 'f' }],
    ],
    [
      'a signature',
      { type: 't', text: 'a', signature: '' },
      { type: 't', signature: 's' },
      [{ type: 't', text: 'a', signature: 's' }],
    ],
  ])('of a stream are joined: %s', (_name, before, next, joined) => {
    expect(mergeFields(details(before), details(next))).toEqual({ reasoning_details: joined });
  });

  it.each([
    ['a text after a signed one', { type: 't', text: 'a', signature: 's' }, { type: 't', text: 'b' }],
    ['texts of two indexes', { type: 't', text: 'a', index: 0 }, { type: 't', text: 'b', index: 1 }],
    ['encrypted blocks without an index', { type: 'e', data: 'a' }, { type: 'e', data: 'b' }],
    ['blocks without a type', { text: 'a' }, { text: 'b' }],
  ])('of a stream stay apart: %s', (_name, before, next) => {
    expect(mergeFields(details(before), details(next))).toEqual(details(before, next));
  });

  it('return to their owner only, each to its call', () => {
    const call = { call: { provider_specific_fields: { a: 1 } } };
    const signedReasoning = toSignedReasoning(OWNER, details({ type: 't' }), [undefined, call])!;
    const message = { role: 'assistant', content: '', signedReasoning } as const;
    const own = returnedFields(message, OWNER);
    expect([own.message, own.callAt(0), own.callAt(1)]).toEqual([details({ type: 't' }), undefined, call]);
    for (const other of [{ ...OWNER, model: 'n' }, { ...OWNER, provider: 'openai' }, undefined]) {
      const fields = returnedFields(message, other);
      expect([fields.message, fields.callAt(1)]).toEqual([undefined, undefined]);
    }
    expect(toSignedReasoning(OWNER, undefined, [undefined])).toBeUndefined();
  });
});
