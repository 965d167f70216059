import { describe, expect, it } from '@jest/globals';
import type { ChatResult } from '../../llm/index.js';
import { NativeProtocol } from './native.protocol.js';

function reply(count: number): ChatResult {
  const toolCalls = Array.from({ length: count }, (_, i) => ({ id: `c${i + 1}`, name: 'look', arguments: '{}' }));
  return { message: { role: 'assistant', content: '', toolCalls }, finishReason: 'tool_calls', model: 'm' };
}

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
