import type { ContentPart, ToolCall, ToolMessage } from '../../llm/index.js';
import type { SessionMessage } from '../session.types.js';

/** What stands for a result that is not there. */
export const LOST_RESULT = 'Error: the result of this call was lost.';

/** What stands before an assistant that speaks first: Anthropic's models want a history to begin with the user. */
export const ASSISTANT_BEGAN: SessionMessage = { role: 'user', content: '(The assistant began the conversation.)' };

/**
 * Makes a turn valid by any provider's rules: after a message with calls come their results, each once, and nothing
 * else has one. The same id may come again in a later message: some servers count the calls of each reply anew.
 * @returns the same array when nothing was to be mended
 */
export function repairTurn(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  if (isValid(messages)) return messages;
  const results = new Map<string, ToolMessage>();
  // Backwards, so that a call finds the first result after it, but none of a later call of the same id.
  return messages
    .toReversed()
    .flatMap((message): SessionMessage[] => {
      if (message.role === 'tool') results.set(message.toolCallId, message);
      if (message.role === 'tool') return [];
      if (message.role !== 'assistant') return [message];
      const { toolCalls = [], ...said } = message;
      const calls = [...new Map(toolCalls.map((call) => [call.id, call])).values()];
      if (calls.length === 0) return [said];
      const answers = calls.map((call) => results.get(call.id) ?? lostResult(call));
      for (const { id } of calls) results.delete(id);
      return [...answers.toReversed(), { ...said, toolCalls: calls }];
    })
    .toReversed();
}

function isValid(messages: readonly SessionMessage[]): boolean {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) return false;
      continue;
    }
    if (open.size > 0) return false;
    const calls = (message.role === 'assistant' && message.toolCalls) || [];
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length) return false;
  }
  return open.size === 0;
}

/** Leaves out texts that say nothing: OpenAI's and Anthropic's models refuse them in a history. */
export function withoutBlanks(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  return messages.flatMap((message): SessionMessage[] => {
    const { role, content } = message;
    if (role === 'tool' || !isBlank(content))
      return [typeof content === 'string' ? message : withoutBlankParts(message)];
    return role === 'assistant' && message.toolCalls?.length ? [{ ...message, content: '' }] : [];
  });
}

function isBlank(content: SessionMessage['content']): boolean {
  if (typeof content === 'string') return content.trim() === '';
  return content.every(isBlankPart);
}

function withoutBlankParts(message: SessionMessage): SessionMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.filter((part) => !isBlankPart(part)) };
}

function isBlankPart(part: ContentPart): boolean {
  return part.type === 'text' && part.text.trim() === '';
}

function lostResult({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', toolCallId: id, name, content: LOST_RESULT };
}
