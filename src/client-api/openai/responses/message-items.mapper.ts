import type { Message } from '../../../llm/index.js';

/** A message or a call as an item of a list. */
export interface ListedItem {
  readonly id: string;
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The items of a message: its text, and its calls. */
export function toItems(message: Message, id: string): readonly ListedItem[] {
  if (message.role === 'tool')
    return [{ id, type: 'function_call_output', call_id: message.toolCallId, output: message.content }];
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const text = { id, type: 'message', role: message.role, status: 'completed', content: contentOf(message) };
  const called = calls.map(({ id: callId, name, arguments: args }, at) => ({
    id: `${id}_${at}`,
    type: 'function_call',
    call_id: callId,
    name,
    arguments: args,
    status: 'completed',
  }));
  return message.content === '' && calls.length > 0 ? called : [text, ...called];
}

function contentOf({ role, content }: Exclude<Message, { role: 'tool' }>): readonly object[] {
  if (role === 'assistant') return [{ type: 'output_text', text: content, annotations: [], logprobs: [] }];
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return content.map((part) =>
    part.type === 'text'
      ? { type: 'input_text', text: part.text }
      : { type: 'input_image', image_url: part.url, detail: 'auto' },
  );
}

/** A page of items in OpenAI's format. */
export function toList(data: readonly ListedItem[], hasMore = false): object {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}
