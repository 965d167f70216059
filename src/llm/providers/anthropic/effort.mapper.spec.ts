import { describe, expect, it } from 'vitest';
import type { ChatRequest, Effort } from '../../chat/chat.types.js';
import { toEffortFields } from './effort.mapper.js';

const messages = [{ role: 'user', content: 'x' }] as const;
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

function fields(model: string, effort?: Effort, more: Partial<ChatRequest> = {}) {
  return toEffortFields({ messages, ...more, parameters: { ...(effort && { effort }), ...more.parameters } }, model);
}

it.each<[string, Effort | undefined, object]>([
  ['claude-haiku-5-5', undefined, { thinking: ADAPTIVE }],
  ['claude-haiku-5-5', 'low', { effort: 'low', thinking: ADAPTIVE }],
  ['claude-haiku-5-5', 'none', { thinking: { type: 'disabled' } }],
  ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
  ['claude-opus-4-7', 'max', { effort: 'max', thinking: ADAPTIVE }],
  ['claude-opus-4-7', 'none', {}],
  ['claude-opus-4-5', 'high', { effort: 'high' }],
  ['claude-sonnet-4-5', 'low', { thinking: { type: 'enabled', budget_tokens: 6400 } }],
  ['claude-sonnet-4-5', 'high', { thinking: { type: 'enabled', budget_tokens: 25_600 } }],
  ['claude-sonnet-4-5', 'none', {}],
  ['claude-sonnet-4-5', undefined, {}],
  ['house-model', 'high', { effort: 'high' }],
])('%s with the effort %s has %j', (model, effort, expected) => {
  expect(fields(model, effort)).toEqual(expected);
});

describe('a budget of thinking', () => {
  const model = 'claude-sonnet-4-5';

  it('is a share of max_tokens, at least 1,024', () => {
    expect(fields(model, 'low', { parameters: { maxTokens: 2000 } }).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 1024,
    });
  });

  it('is absent beside a forced call, and after calls without a thought', () => {
    expect(fields(model, 'low', { toolChoice: 'required' })).toEqual({});
    const calls = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 't', arguments: '{}' }] } as const;
    const result = { role: 'tool', toolCallId: 'a', name: 't', content: '1' } as const;
    expect(fields(model, 'low', { messages: [...messages, calls, result] })).toEqual({});
    const signedReasoning = { provider: 'anthropic', model, blocks: [] };
    expect(fields(model, 'low', { messages: [...messages, { ...calls, signedReasoning }, result] })).toHaveProperty(
      'thinking',
    );
    expect(
      fields(model, 'low', { messages: [...messages, calls, result, { role: 'user', content: 'y' }] }),
    ).toHaveProperty('thinking');
  });
});
