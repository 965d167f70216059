import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../../../llm/index.js';
import type { Tool } from '../../../tool/index.js';
import { toResultsOfUser } from '../shown-image.mapper.js';
import { writeCalls } from './call.mapper.js';
import { escapeAttribute, escapeMarkup } from './entity.mapper.js';

/**
 * Maps messages to text: calls become a block, and the results after them one user message. The given messages are not
 * changed.
 */
export function toTextMessages(messages: readonly Message[], tools: readonly Tool[]): Message[] {
  const written: Message[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(message);
      continue;
    }
    if (results.length > 0) written.push(toResultMessage(results));
    results = [];
    written.push(toTextMessage(message, tools));
  }
  if (results.length > 0) written.push(toResultMessage(results));
  return written;
}

function toTextMessage(message: Exclude<Message, ToolMessage>, tools: readonly Tool[]): Message {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
      return toTextUser(message);
    case 'assistant':
      return toTextAssistant(message, tools);
  }
}

/** Escapes all text parts together, since markup may span several parts. */
function toTextUser(message: UserMessage): Message {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const escaped = escapeMarkup(text);
  if (escaped === text) return message;
  const images = parts.filter(({ type }) => type === 'image');
  return { role: 'user', content: images.length > 0 ? [...images, { type: 'text', text: escaped }] : escaped };
}

function toTextAssistant({ content, toolCalls = [] }: AssistantMessage, tools: readonly Tool[]): Message {
  const text = escapeMarkup(content);
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  const block = writeCalls(toolCalls, tools);
  return { role: 'assistant', content: text === '' ? block : `${text}\n\n${block}` };
}

function toResultMessage(results: readonly ToolMessage[]): Message {
  const lines = results.map(({ name, content }) => {
    return `<result tool="${escapeAttribute(name)}">${escapeMarkup(content)}</result>`;
  });
  const text = ['<function_results>', ...lines, '</function_results>'].join('\n');
  return toResultsOfUser(text, results, (tool) => `Shown by ${escapeMarkup(tool)}:`);
}
