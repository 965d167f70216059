import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from '../../../llm/index.js';
import { toResultsOfUser } from '../shown-image.mapper.js';
import { escapeLabels } from './label.parser.js';

const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** Maps messages to messages with calls and results as text; the given ones are not changed. */
export function toTextMessages(messages: readonly Message[]): Message[] {
  const written: Message[] = [];
  let results: ToolMessage[] = [];
  for (const message of messages) {
    if (message.role === 'tool') results.push(message);
    else {
      if (results.length > 0) written.push(toObservations(results));
      results = [];
      written.push(toTextMessage(message));
    }
  }
  if (results.length > 0) written.push(toObservations(results));
  return written;
}

function toTextMessage(message: Exclude<Message, ToolMessage>): Message {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
      return toUserText(message);
    case 'assistant':
      return { role: 'assistant', content: toAssistantText(message) };
  }
}

function toUserText({ role, content }: UserMessage): UserMessage {
  if (typeof content === 'string') return { role, content: escapeLabels(content) };
  return {
    role,
    content: content.map((part) => (part.type === 'text' ? { ...part, text: escapeLabels(part.text) } : part)),
  };
}

/** An answer keeps its label in the history, so that the model follows the format. */
function toAssistantText({ content, reasoning = '', toolCalls = [] }: AssistantMessage): string {
  if (toolCalls.length === 0) return `Final Answer: ${escapeLabels(content)}`;
  const thought = [reasoning, content].filter((text) => text !== '').join('\n');
  const calls = toolCalls.map(toCallText);
  return (thought === '' ? calls : [`Thought: ${escapeLabels(thought)}`, ...calls]).join('\n');
}

function toCallText(call: ToolCall): string {
  return `Action: ${toName(call.name)}\nAction Input: ${toInputText(call.arguments)}`;
}

function toName(tool: string): string {
  return tool.replace(LINE_BREAKS, ' ');
}

/** In one line: in JSON a line break is a blank between values; U+2028 and U+2029 occur only in strings. */
function toInputText(args: string): string {
  const line = args
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  if (line.trim() === '') return '{}';
  return line.trimStart().startsWith('{') ? line : escapeLabels(line);
}

/** A message with the role `tool` requires a native call; here results are user messages. */
function toObservations(results: readonly ToolMessage[]): UserMessage {
  const named = results.length > 1;
  const lines = results.map(({ name, content }) => {
    const label = named ? `Observation (${toName(name)})` : 'Observation';
    return `${label}: ${escapeLabels(content)}`;
  });
  return toResultsOfUser(lines.join('\n'), results, (tool) => `Shown by ${escapeLabels(toName(tool))}:`);
}
