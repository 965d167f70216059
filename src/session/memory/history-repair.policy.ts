import type { ToolCall, ToolMessage } from '../../llm/index.js';
import type { SessionMessage } from '../session.types.js';

/** What stands for a result that is not there. */
export const LOST_RESULT = 'Error: the result of this call was lost.';

/**
 * Makes a turn valid by any provider's rules: after a message with calls come their results, each once, and nothing
 * else has one.
 * @returns the same array when nothing was to be mended
 */
export function repairTurn(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  if (isValid(messages)) return messages;
  const results = new Map(messages.flatMap((one) => (one.role === 'tool' ? [[one.toolCallId, one] as const] : [])));
  const asked = new Set<string>();
  return messages.flatMap((message): SessionMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant') return [message];
    const { toolCalls, ...said } = message;
    const calls = (toolCalls ?? []).filter(({ id }) => !asked.has(id) && asked.add(id));
    if (calls.length === 0) return [said];
    return [{ ...said, toolCalls: calls }, ...calls.map((call) => results.get(call.id) ?? lostResult(call))];
  });
}

function isValid(messages: readonly SessionMessage[]): boolean {
  const asked = new Set<string>();
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) return false;
      continue;
    }
    if (open.size > 0) return false;
    if (message.role !== 'assistant') continue;
    const calls = message.toolCalls ?? [];
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length || calls.some(({ id }) => asked.has(id))) return false;
    for (const { id } of calls) asked.add(id);
  }
  return open.size === 0;
}

/** Nothing said and nothing asked for: OpenAI's and Anthropic's models refuse it in a history. */
export function isEmpty(message: SessionMessage): boolean {
  return message.role === 'assistant' && message.content === '' && !message.toolCalls?.length;
}

function lostResult({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', toolCallId: id, name, content: LOST_RESULT };
}
