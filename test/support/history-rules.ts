import type { FakeRequestMessage } from './fake-llm.types.js';

/** The longest call id that OpenAI's chat completions accept. */
const LONGEST_ID = 40;
/** The function names that OpenAI accepts; Anthropic accepts longer ones. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The reasons for which OpenAI's chat completions would refuse these messages with 400; empty if valid.
 * Every call is answered exactly once by the tool messages right after its message, and every tool message has a call.
 */
export function openAiFaults(messages: readonly FakeRequestMessage[]): string[] {
  const faults: string[] = messages.length === 0 ? ['there are no messages'] : [];
  let open = new Set<string>();
  const close = (at: number) => {
    for (const id of open) faults.push(`${at}: the call ${id} has no result before this`);
    open = new Set();
  };
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) faults.push(`${at}: a result of no call, ${message.tool_call_id}`);
      continue;
    }
    close(at);
    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    open = new Set(ids);
    faults.push(...callFaults(message, ids).map((fault) => `${at}: ${fault}`));
  }
  close(messages.length);
  return faults;
}

function callFaults({ role, content, tool_calls }: FakeRequestMessage, ids: readonly string[]): string[] {
  const names = (tool_calls ?? []).map(({ function: { name } }) => name).filter((name) => !NAME.test(name));
  const tooLong = ids.filter((id) => id.length > LONGEST_ID);
  return [
    ...when(isNothing(content) && ids.length === 0, 'nothing is said and nothing asked for'),
    ...when(role !== 'assistant' && tool_calls !== undefined, `calls in a message of the ${role}`),
    ...when(tool_calls?.length === 0, 'an empty list of calls'),
    ...when(new Set(ids).size < ids.length, `the same id twice in ${ids.join()}`),
    ...when(ids.includes(''), 'an id that is empty'),
    ...when(names.length > 0, `malformed names: ${names.join()}`),
    ...when(tooLong.length > 0, `ids that are too long: ${tooLong.join()}`),
  ];
}

function isNothing(content: unknown): boolean {
  return content === null || content === undefined || content === '' || (content as unknown[]).length === 0;
}

function when(isWrong: boolean, fault: string): string[] {
  return isWrong ? [fault] : [];
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string }
  | { readonly type: 'tool_result'; readonly id: string };

interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

const ANTHROPIC_ID = /^[a-zA-Z0-9_-]+$/;

/**
 * The reasons for which Anthropic's Messages API would refuse the same messages; empty if valid. They are first
 * converted in the usual way: system messages apart, results as user blocks, adjacent messages of one role merged.
 */
export function anthropicFaults(messages: readonly FakeRequestMessage[]): string[] {
  const system = messages.filter(({ role }) => role === 'system').flatMap(toBlocks);
  const conversation = merged(messages.filter(({ role }) => role !== 'system').map(toAnthropic));
  const ids = conversation.flatMap(({ content }) => idsOf(content, 'tool_use'));
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  return [
    ...(conversation[0]?.role === 'user' ? [] : [`the first message is the ${conversation[0]?.role}'s`]),
    ...[...system, ...conversation.flatMap(({ content }) => content)].filter(isBlank).map(() => 'a text that is blank'),
    ...ids.filter((id) => !ANTHROPIC_ID.test(id)).map((id) => `the id "${id}" has other characters than allowed`),
    ...twice.map((id) => `the id ${id} is not unique`),
    ...conversation.flatMap((message, at) =>
      resultFaults(message, conversation[at - 1]).map((text) => `${at}: ${text}`),
    ),
    ...conversation.flatMap((message, at) => openFaults(message, conversation[at + 1]).map((text) => `${at}: ${text}`)),
    ...endFaults(conversation.at(-1)),
  ];
}

function toAnthropic(message: FakeRequestMessage): AnthropicMessage {
  if (message.role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', id: message.tool_call_id ?? '' }] };
  if (message.role === 'user') return { role: 'user', content: toBlocks(message) };
  const calls = (message.tool_calls ?? []).map(({ id }) => ({ type: 'tool_use' as const, id }));
  return { role: 'assistant', content: [...toBlocks(message), ...calls] };
}

/** Beside calls OpenAI expects null for an empty content; here it becomes no text block. */
function toBlocks({ content }: FakeRequestMessage): Block[] {
  if (content === null || content === undefined) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [...(content as Block[])];
}

function merged(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const all: AnthropicMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role !== message.role) all.push(message);
    else all[all.length - 1] = { role: last.role, content: [...last.content, ...message.content] };
  }
  return all;
}

function idsOf(content: readonly Block[], type: 'tool_use' | 'tool_result'): string[] {
  return content.flatMap((block) => (block.type === type ? [block.id] : []));
}

function isBlank(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === '';
}

/** Results come first in a message, each once, and answer the message before. */
function resultFaults({ content }: AnthropicMessage, before: AnthropicMessage | undefined): string[] {
  const results = idsOf(content, 'tool_result');
  const asked = new Set(idsOf(before?.content ?? [], 'tool_use'));
  const isFirst = content.slice(0, results.length).every(({ type }) => type === 'tool_result');
  return [
    ...(isFirst ? [] : ['results stand behind something else']),
    ...results.filter((id) => !asked.has(id)).map((id) => `a result of ${id}, which was not called just before`),
    ...results.filter((id, at) => results.indexOf(id) !== at).map((id) => `two results of ${id}`),
  ];
}

function openFaults({ content }: AnthropicMessage, next: AnthropicMessage | undefined): string[] {
  const there = new Set(idsOf(next?.content ?? [], 'tool_result'));
  const open = idsOf(content, 'tool_use').filter((id) => !there.has(id));
  return open.map((id) => `the call ${id} has no result in the next message`);
}

function endFaults(last: AnthropicMessage | undefined): string[] {
  const block = last?.content.at(-1);
  const isOpenText = last?.role === 'assistant' && block?.type === 'text' && /\s$/.test(block.text);
  return isOpenText ? ['it ends with an assistant message that ends in white space'] : [];
}
