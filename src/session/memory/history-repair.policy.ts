import type { ContentPart, ToolCall, ToolMessage } from '../../llm/chat/index.js';
import type { SessionMessage } from '../session.types.js';

/** Text in place of a missing result. */
export const LOST_RESULT = 'Error: the result of this call was lost.';

const NOT_BLANK = /\S/;

/** Inserted before a leading assistant message: Anthropic's models require a history that starts with the user. */
export const ASSISTANT_BEGAN: SessionMessage = { role: 'user', content: '(The assistant began the conversation.)' };

/**
 * Makes a turn valid for every provider: each call has exactly one result, after the message with the call, and there
 * are no other results. An id may recur in a later message: some servers restart their ids in each reply.
 * @returns the same array if it was valid
 */
export function repairTurn(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  if (isValid(messages)) return messages;
  const results = new Map<string, ToolMessage>();
  // Backwards: a call takes the first result after it, but not that of a later call with the same id.
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
  if (!messages.some(hasCallOrResult)) return true;
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

function hasCallOrResult(message: SessionMessage): boolean {
  return message.role === 'tool' || (message.role === 'assistant' && message.toolCalls !== undefined);
}

/** Removes blank texts, which OpenAI's and Anthropic's models reject in a history. */
export function withoutBlanks(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  if (messages.every(({ content }) => typeof content === 'string' && !isBlank(content))) return messages;
  return messages.flatMap((message): SessionMessage[] => {
    const { role, content } = message;
    if (role === 'tool' || !isBlank(content))
      return [typeof content === 'string' ? message : withoutBlankParts(message)];
    return role === 'assistant' && message.toolCalls?.length ? [{ ...message, content: '' }] : [];
  });
}

function isBlank(content: SessionMessage['content']): boolean {
  if (typeof content === 'string') return !NOT_BLANK.test(content);
  return content.every(isBlankPart);
}

function withoutBlankParts(message: SessionMessage): SessionMessage {
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.filter((part) => !isBlankPart(part)) };
}

function isBlankPart(part: ContentPart): boolean {
  return part.type === 'text' && isBlank(part.text);
}

function lostResult({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', toolCallId: id, name, content: LOST_RESULT };
}
