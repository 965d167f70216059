import { describe, expect, it } from 'vitest';
import type { FakeRequestMessage } from './support/fake-llm.types.js';
import { anthropicFaults, openAiFaults } from './support/history-rules.js';

const system = { role: 'system', content: 'Be kind.' };
const user = { role: 'user', content: 'add' };
const answer = { role: 'assistant', content: 'done' };
const calling = (...ids: string[]): FakeRequestMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'add', arguments: '{}' } })),
});
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: '3' });

const GOOD: Record<string, readonly FakeRequestMessage[]> = {
  'a question': [user],
  'calls with results in any order': [system, user, calling('a', 'b'), result('b'), result('a'), answer, user],
  'two questions, the first unanswered': [user, user],
  'results, and then the user': [user, calling('a'), result('a'), user],
};

/** Whether each provider refuses the messages. */
const BAD: Record<string, { messages: readonly FakeRequestMessage[]; openai: boolean; anthropic: boolean }> = {
  nothing: { messages: [], openai: true, anthropic: true },
  'a call without a result': { messages: [user, calling('a', 'b'), result('a')], openai: true, anthropic: true },
  'a result without a call': { messages: [user, answer, result('a'), user], openai: true, anthropic: true },
  'two results': { messages: [user, calling('a'), result('a'), result('a')], openai: true, anthropic: true },
  'a late result': { messages: [user, calling('a'), user, result('a')], openai: true, anthropic: true },
  'an id twice at once': { messages: [user, calling('a', 'a'), result('a')], openai: true, anthropic: true },
  'an id twice': {
    messages: [user, calling('a'), result('a'), calling('a'), result('a')],
    openai: false,
    anthropic: true,
  },
  'an id of other characters': { messages: [user, calling('a:0'), result('a:0')], openai: false, anthropic: true },
  'a long id': { messages: [user, calling('x'.repeat(41)), result('x'.repeat(41))], openai: true, anthropic: false },
  'an assistant that begins': { messages: [system, answer, user], openai: false, anthropic: true },
  'a blank text': { messages: [user, { role: 'assistant', content: ' ' }, user], openai: false, anthropic: true },
  'a blank system message': { messages: [{ role: 'system', content: '' }, user], openai: true, anthropic: true },
  'an empty answer': { messages: [user, { role: 'assistant', content: null }, user], openai: true, anthropic: false },
  'an open end': { messages: [user, { role: 'assistant', content: 'well ' }], openai: false, anthropic: true },
};

describe('the history rules of OpenAI and Anthropic', () => {
  it.each(Object.entries(GOOD))('accept %s', (_name, messages) => {
    expect([openAiFaults(messages), anthropicFaults(messages)]).toEqual([[], []]);
  });

  it.each(Object.entries(BAD))('refuse %s', (_name, { messages, openai, anthropic }) => {
    expect([openAiFaults(messages).length > 0, anthropicFaults(messages).length > 0]).toEqual([openai, anthropic]);
  });
});
