import { isJsonObject, parseExactJson } from '../../../kernel/json/index.js';
import { parseImage } from '../../../kernel/media/index.js';
import type {
  AssistantMessage,
  ContentPart,
  Message,
  SignedReasoning,
  ToolMessage,
  UserMessage,
} from '../../chat/message.types.js';
import type { WireBlock, WireTurn } from './wire-block.types.js';

/** Characters that Anthropic rejects in ids of calls. */
const NOT_ALLOWED = /[^A-Za-z0-9_-]/g;

/**
 * Maps call ids of a history to valid ids that are unique in the request. Ids of other providers may contain other
 * characters (`functions.add:0`) or repeat in every reply.
 */
class CallIds {
  private readonly taken = new Set<string>();
  private readonly current = new Map<string, string>();

  /** The mapped id of a new call. */
  open(id: string): string {
    const wanted = id.replaceAll(NOT_ALLOWED, '_') || 'call';
    let free = wanted;
    for (let n = 2; this.taken.has(free); n++) free = `${wanted}_${n}`;
    this.taken.add(free);
    this.current.set(id, free);
    return free;
  }

  /** The mapped id of the call that a result belongs to: the last call with that id. */
  of(id: string): string {
    return this.current.get(id) ?? this.open(id);
  }
}

/** A conversation in Anthropic's format: the system text is separate, and the turns of user and assistant alternate. */
export interface WireConversation {
  readonly system: string;
  readonly messages: readonly WireTurn[];
}

/**
 * Converts messages to the wire format. Consecutive messages of one role become one turn, with tool results first.
 * Blank texts are omitted, since the API rejects them.
 * @param model requested model: only its own signed reasoning is sent back
 */
export function toWireConversation(messages: readonly Message[], model: string): WireConversation {
  const system = messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n');
  const ids = new CallIds();
  const turns: { role: WireTurn['role']; content: WireBlock[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = toBlocks(message, ids, model);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return { system, messages: turns.map(({ role, content }) => ({ role, content: resultsFirst(content) })) };
}

/** Names of the tools that a history has calls of. */
export function calledTools(messages: readonly Message[]): readonly string[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return [...new Set(calls.map(({ name }) => name))];
}

function toBlocks(message: Exclude<Message, { role: 'system' }>, ids: CallIds, model: string): WireBlock[] {
  switch (message.role) {
    case 'user':
      return toUserBlocks(message);
    case 'assistant':
      return toAssistantBlocks(message, ids, model);
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: ids.of(message.toolCallId), content: toResultContent(message) }];
  }
}

function toResultContent({ content, images = [] }: ToolMessage): string | WireBlock[] {
  return images.length === 0 ? content : [...toText(content), ...images.flatMap(toPart)];
}

function toUserBlocks({ content }: UserMessage): WireBlock[] {
  return typeof content === 'string' ? toText(content) : content.flatMap(toPart);
}

function toPart(part: ContentPart): WireBlock[] {
  return part.type === 'text' ? toText(part.text) : [{ type: 'image', source: toSource(part.url) }];
}

/** An invalid image URL is passed on; Anthropic rejects it. */
function toSource(url: string): Readonly<Record<string, string>> {
  const image = parseImage(url);
  if (typeof image === 'string' || image.kind === 'url') return { type: 'url', url };
  return { type: 'base64', media_type: image.mediaType, data: image.data };
}

function toText(text: string): WireBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Inserts signed reasoning at its original positions between texts and calls. */
function toAssistantBlocks(message: AssistantMessage, ids: CallIds, model: string): WireBlock[] {
  const { content, toolCalls = [] } = message;
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({
    type: 'tool_use',
    id: ids.open(id),
    name,
    input: toInput(args),
  }));
  const blocks: WireBlock[] = [];
  let [text, call] = [0, 0];
  for (const block of ownBlocks(message.signedReasoning, calls.length, model)) {
    blocks.push(
      ...toText(content.slice(text, block.text)),
      ...calls.slice(call, block.calls),
      block.value as WireBlock,
    );
    [text, call] = [block.text, block.calls];
  }
  return [...blocks, ...toText(content.slice(text)), ...calls.slice(call)];
}

/** Required only beside calls, and valid for one model only. */
function ownBlocks(signed: SignedReasoning | undefined, calls: number, model: string): SignedReasoning['blocks'] {
  return signed?.provider === 'anthropic' && signed.model === model && calls > 0 ? signed.blocks : [];
}

/** An object; any other value is wrapped in one. */
function toInput(args: string): unknown {
  try {
    const value: unknown = parseExactJson(args);
    return isJsonObject(value) ? value : { arguments: args };
  } catch {
    return { arguments: args };
  }
}

function isResult({ type }: WireBlock): boolean {
  return type === 'tool_result';
}

function resultsFirst(blocks: readonly WireBlock[]): WireBlock[] {
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}
