import { expect } from 'vitest';
import type { Message } from '../../src/llm/chat/index.js';

/** A turn is pair-safe when every call has exactly one result right after it, in order, and no result is without call. */
export function expectPairSafe(messages: readonly Message[], input: Message): void {
  expect(messages[0]).toEqual(input);
  const expected: string[] = [];
  for (const message of messages.slice(1)) {
    if (message.role !== 'assistant') continue;
    expected.push('assistant', ...(message.toolCalls ?? []).map(({ id, name }) => `${name} ${id}`));
  }
  const found = messages.slice(1).map((one) => (one.role === 'tool' ? `${one.name} ${one.toolCallId}` : one.role));
  expect(found).toEqual(expected);
}
