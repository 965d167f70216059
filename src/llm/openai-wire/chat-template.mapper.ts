import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import { isJsonObject, parseJson } from '../../kernel/json/index.js';
import type { WireRequestMessage } from './message.mapper.js';

type Role = WireRequestMessage['role'];
type Of<R extends Role> = Extract<WireRequestMessage, { role: R }> & { reasoning_content?: string };

/** Stands between results and the user where no answer is: after a failed run, or before the images of results. */
const BRIDGE: WireRequestMessage = { role: 'assistant', content: '(Results received.)' };

/**
 * Arranges messages for servers that apply a model's chat template (vLLM, llama.cpp, Mistral's API): one leading system
 * message, then user and assistant in turns, an assistant message after results, no empty messages, and arguments that
 * are JSON objects. Templates raise an error for others.
 */
export function toTemplateMessages(messages: readonly WireRequestMessage[]): WireRequestMessage[] {
  const arranged: WireRequestMessage[] = [];
  for (const message of messages) {
    if (message.role === 'system' || isEmpty(message)) continue;
    const last = arranged.at(-1);
    const merged = last && merge(last, message);
    if (merged) {
      arranged[arranged.length - 1] = merged;
      continue;
    }
    if (last?.role === 'tool' && message.role === 'user') arranged.push(BRIDGE);
    arranged.push(withJsonArguments(message));
  }
  const system = messages.flatMap((message) => (message.role === 'system' ? [textOf(message.content)] : []));
  return system.length === 0 ? arranged : [{ role: 'system', content: system.join('\n\n') }, ...arranged];
}

function isEmpty(message: WireRequestMessage): boolean {
  if (message.role === 'tool') return false;
  if (message.role === 'assistant' && message.tool_calls?.length) return false;
  return !message.content?.length;
}

/** The union of two messages of one role; undefined if both must stay. */
function merge(last: WireRequestMessage, next: WireRequestMessage): WireRequestMessage | undefined {
  if (last.role === 'user' && next.role === 'user') {
    return { role: 'user', content: joinContents(last.content, next.content) };
  }
  if (last.role !== 'assistant' || next.role !== 'assistant' || last.tool_calls) return undefined;
  return mergeAnswers(last, withJsonArguments(next) as Of<'assistant'>);
}

function mergeAnswers(last: Of<'assistant'>, next: Of<'assistant'>): WireRequestMessage {
  const content = [last.content, next.content].map(textOf).filter((text) => text !== '');
  return { ...last, ...next, content: content.join('\n\n') };
}

function joinContents(first: Of<'user'>['content'], second: Of<'user'>['content']): Of<'user'>['content'] {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...toParts(first), ...toParts(second)];
}

function toParts(content: Of<'user'>['content']): ChatCompletionContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function textOf(content: WireRequestMessage['content'] | undefined): string {
  return typeof content === 'string' ? content : '';
}

/** Wraps arguments of calls that are no JSON object: a server that parses them refuses the whole request. */
export function withJsonArguments(message: WireRequestMessage): WireRequestMessage {
  if (message.role !== 'assistant' || !message.tool_calls) return message;
  const tool_calls = message.tool_calls.map((call) =>
    call.type === 'function' && !isObjectText(call.function.arguments)
      ? { ...call, function: { ...call.function, arguments: JSON.stringify({ arguments: call.function.arguments }) } }
      : call,
  );
  return { ...message, tool_calls };
}

function isObjectText(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value);
}
