import type { SessionMessage } from '../session.types.js';

/** A turn without tool calls and their results. */
export function toPlainTurn(messages: readonly SessionMessage[]): SessionMessage[] {
  return messages.flatMap((message): SessionMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || !message.toolCalls) return [message];
    const { toolCalls: _calls, ...said } = message;
    return [said];
  });
}
