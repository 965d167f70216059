import type { AssistantMessage, Message, ToolCall } from '../../llm/index.js';

/** What OpenAI and Anthropic refuse in the name of a function, and Anthropic in an id; models make such up, and no tool has one. */
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/g;
const LONGEST_NAME = 64;
/** Of an id, as OpenAI takes it; other providers give longer ones. */
const LONGEST_ID = 40;
/** Leaves room for what tells it from others. */
const SHORTENED_ID = 32;

/**
 * The messages as providers take them back: names of calls are names, every call has an id of its own in the whole
 * conversation, and its result the same (Anthropic wants that, and servers that know no ids count anew in each reply),
 * and beside calls there is no text rather than a blank one. The given ones are not changed.
 */
export function toSentMessages(messages: readonly Message[]): Message[] {
  const taken = new Set<string>();
  /** Under which ids the last calls go, by those they had. */
  let sentIds = new Map<string, string[]>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const toolCallId = sentIds.get(message.toolCallId)?.shift();
      return toolCallId === undefined ? message : { ...message, toolCallId };
    }
    if (message.role !== 'assistant' || !message.toolCalls?.length) return message;
    const sent = toSent(message, taken);
    sentIds = sent === message ? new Map() : idsOf(message.toolCalls, sent.toolCalls!);
    return sent;
  });
}

/** @returns the same message when nothing is to be changed */
function toSent(message: AssistantMessage, taken: Set<string>): AssistantMessage {
  const toolCalls = message.toolCalls!.map((call) => toSentCall(call, taken));
  const content = message.content.trim() === '' ? '' : message.content;
  const isSame = content === message.content && toolCalls.every((call, at) => call === message.toolCalls![at]);
  return isSame ? message : { ...message, content, toolCalls };
}

function toSentCall(call: ToolCall, taken: Set<string>): ToolCall {
  const id = freeId(call.id, taken);
  taken.add(id);
  const name = call.name.replace(NOT_IN_NAMES, '_').slice(0, LONGEST_NAME);
  return id === call.id && name === call.name ? call : { ...call, id, name };
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = toId(wanted);
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base.slice(0, SHORTENED_ID)}_${n}`;
  return id;
}

function toId(wanted: string): string {
  const id = wanted.replace(NOT_IN_NAMES, '_') || 'call';
  return id.length > LONGEST_ID ? id.slice(0, SHORTENED_ID) : id;
}

function idsOf(calls: readonly ToolCall[], sent: readonly ToolCall[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const [at, { id }] of calls.entries()) ids.set(id, [...(ids.get(id) ?? []), sent[at]!.id]);
  return ids;
}
