import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { isJsonObject } from '../../kernel/json/index.js';
import type {
  AssistantMessage,
  AudioPart,
  ContentPart,
  Message,
  SignedReasoning,
  ToolCall,
  ToolMessage,
} from '../chat/message.types.js';
import { toSignedCall } from './thought-signature.mapper.js';
import type { WireDialect } from './wire-dialect.types.js';

/**
 * Fields that a gateway adds to a message and requires or uses in later requests: `reasoning_details`
 * (openrouter.ai/docs, "Preserving reasoning blocks"), `thinking_blocks` and `provider_specific_fields` (docs.litellm.ai).
 */
const MESSAGE_FIELDS = ['reasoning_details', 'thinking_blocks', 'provider_specific_fields'] as const;
/** The same of a call and of its function: thought signatures of Gemini behind a gateway (docs.litellm.ai, "Gemini 3"). */
const CALL_FIELDS = ['provider_specific_fields', 'thought_signature'] as const;
/** Texts that a stream sends in pieces. */
const PIECES = ['text', 'summary', 'thinking', 'data'];

type Fields = Readonly<Record<string, unknown>>;

/** Opaque fields of a call, and of its function. */
export interface OpaqueCall {
  readonly call?: Fields;
  readonly function?: Fields;
}

/** The provider and model whose fields are returned to them. */
export interface StateOwner {
  readonly provider: string;
  readonly model: string;
}

/** The opaque fields of a message, or of a part of a stream. */
export function opaqueOfMessage(message: object): Fields | undefined {
  return pick(message, MESSAGE_FIELDS);
}

/** The opaque fields of a call, or of a fragment of one. */
export function opaqueOfCall(call: { readonly function?: object | null }): OpaqueCall | undefined {
  const [own, inner] = [pick(call, CALL_FIELDS), pick(call.function ?? {}, CALL_FIELDS)];
  return own || inner ? { ...(own && { call: own }), ...(inner && { function: inner }) } : undefined;
}

export function mergeCalls(before: OpaqueCall | undefined, next: OpaqueCall | undefined): OpaqueCall | undefined {
  if (!before || !next) return next ?? before;
  return {
    call: mergeFields(before.call, next.call) ?? {},
    function: mergeFields(before.function, next.function) ?? {},
  };
}

/** Merges the fields of two parts of a stream: lists are joined, and their last element may continue. */
export function mergeFields(before: Fields | undefined, next: Fields | undefined): Fields | undefined {
  if (!before || !next) return next ?? before;
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(next)) {
    const known = merged[name];
    if (Array.isArray(known) && Array.isArray(value)) merged[name] = joinLists(known, value);
    else if (isJsonObject(known) && isJsonObject(value)) merged[name] = mergeFields(known, value);
    else merged[name] = value;
  }
  return merged;
}

/** The state that later requests return. */
export function toSignedReasoning(
  owner: StateOwner,
  message: Fields | undefined,
  calls: readonly (OpaqueCall | undefined)[],
): SignedReasoning | undefined {
  const blocks = [
    ...(message ? [{ value: { message }, text: 0, calls: 0 }] : []),
    ...calls.flatMap((opaque, at) => (opaque ? [{ value: { ...opaque }, text: 0, calls: at }] : [])),
  ];
  return blocks.length === 0 ? undefined : { ...owner, blocks };
}

/** The opaque fields of a message of the history, if the requested model has written it. */
export function returnedFields({ signedReasoning }: AssistantMessage, owner: StateOwner | undefined) {
  const isOwn = signedReasoning?.provider === owner?.provider && signedReasoning?.model === owner?.model;
  const blocks = isOwn ? (signedReasoning?.blocks ?? []) : [];
  return {
    message: blocks.find(({ value }) => value['message'])?.value['message'] as Fields | undefined,
    callAt: (at: number) => blocks.find(({ value, calls }) => !value['message'] && calls === at)?.value as OpaqueCall,
  };
}

function pick(part: object, names: readonly string[]): Fields | undefined {
  const given = Object.entries(part).filter(([name, value]) => names.includes(name) && isFilled(value));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** LiteLLM sends objects whose members are all null. */
function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.values(value).some((one) => one !== null && one !== undefined);
  return typeof value === 'string' && value !== '';
}

function joinLists(list: readonly unknown[], more: readonly unknown[]): unknown[] {
  const joined = [...list];
  for (const next of more) {
    const last = joined.at(-1);
    if (isJsonObject(last) && isJsonObject(next) && continues(last, next)) {
      joined[joined.length - 1] = joinBlocks(last, next);
    } else joined.push(next);
  }
  return joined;
}

/** Whether a block is a further piece of the last one: of the same type and index, unless the last one is signed. */
function continues(last: Fields, next: Fields): boolean {
  if (last['type'] === undefined || last['type'] !== next['type'] || last['index'] !== next['index']) return false;
  const isEncrypted = last['data'] !== undefined && last['index'] === undefined;
  return !isEncrypted && !last['signature'];
}

function joinBlocks(last: Fields, next: Fields): Fields {
  const joined: Record<string, unknown> = { ...last };
  for (const [name, value] of Object.entries(next)) {
    const known = joined[name];
    if (PIECES.includes(name) && typeof known === 'string' && typeof value === 'string') joined[name] = known + value;
    else if (value !== null && value !== '') joined[name] = value;
  }
  return joined;
}

/** A message of a request; DeepSeek and GLM add `reasoning_content` to OpenAI's format. */
export type WireRequestMessage = ChatCompletionMessageParam & { reasoning_content?: string };

/** Requirements of a model on the messages of a request. */
export interface MessageRules {
  /** The model whose thought signatures the calls must have. */
  readonly signer?: string;
  /** The requested model, which gets its own opaque fields back. */
  readonly owner?: StateOwner;
  /** Whether tool messages have the name of their tool. */
  readonly hasToolNames?: boolean;
}

/**
 * Converts messages to the wire format, where tool results are text. Images of the results follow in a user message
 * after the results of one reply, with the tool's name.
 */
export function toWireMessages(
  messages: readonly Message[],
  echo: WireDialect['reasoningEcho'],
  rules: MessageRules = {},
): WireRequestMessage[] {
  const written: WireRequestMessage[] = [];
  let shown: ChatCompletionContentPart[] = [];
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown });
    shown = [];
  };
  let hasCalls = false;
  for (const message of messages) {
    if (message.role !== 'tool') show();
    hasCalls = message.role === 'user' ? false : hasCalls || (message.role === 'assistant' && isCalling(message));
    written.push(toWireMessage(message, echo, hasCalls, rules));
    if (message.role === 'tool') shown.push(...toShownParts(message));
  }
  show();
  return written;
}

/**
 * Converts a message to the wire format; its content stays unchanged.
 * @param hasCalls whether the turn has called a tool, up to this message
 */
export function toWireMessage(
  message: Message,
  echo: WireDialect['reasoningEcho'],
  hasCalls = false,
  rules: MessageRules = {},
): WireRequestMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return {
        role: 'user',
        content: typeof message.content === 'string' ? message.content : message.content.map(toWirePart),
      };
    case 'assistant':
      return toWireAssistant(message, echoedReasoning(message, echo, hasCalls), rules);
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.toolCallId,
        ...(rules.hasToolNames && { name: message.name }),
        content: message.content,
      };
  }
}

function toShownParts({ name, toolCallId, images = [], audio = [] }: ToolMessage): ChatCompletionContentPart[] {
  if (images.length + audio.length === 0) return [];
  const label = { type: 'text' as const, text: `[What tool ${name} shows, call ${toolCallId}]` };
  return [label, ...images.map(toWirePart), ...audio.map(toAudioPart)];
}

/** Chat Completions takes the base64 of WAV and MP3 (developers.openai.com, "Audio and speech"). */
function toAudioPart({ url }: AudioPart): ChatCompletionContentPart {
  const format = url.startsWith('data:audio/wav') ? 'wav' : 'mp3';
  return { type: 'input_audio', input_audio: { data: url.slice(url.indexOf(',') + 1), format } };
}

function toWirePart(part: ContentPart): ChatCompletionContentPart {
  return part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.url } };
}

function isCalling({ toolCalls }: AssistantMessage): boolean {
  return toolCalls !== undefined && toolCalls.length > 0;
}

function toWireAssistant(
  message: AssistantMessage,
  reasoning: string | undefined,
  { signer, owner }: MessageRules,
): WireRequestMessage {
  const returned = returnedFields(message, owner);
  const calls = isCalling(message) ? message.toolCalls : undefined;
  return {
    role: 'assistant',
    // Some servers reject '' beside calls, and OpenAI requires null.
    content: calls && message.content === '' ? null : message.content,
    ...(reasoning === undefined ? undefined : { reasoning_content: reasoning }),
    ...(calls && {
      tool_calls: calls.map((call, at) => ({
        ...toWireCall(call, returned.callAt(at)),
        ...(signer && toSignedCall(message, at, signer)),
      })),
    }),
    ...returned.message,
  };
}

/**
 * In a turn with calls, DeepSeek answers 400 to a message without its `reasoning_content`, even if that is empty
 * (api-docs.deepseek.com/guides/thinking_mode).
 */
function echoedReasoning(
  message: AssistantMessage,
  echo: WireDialect['reasoningEcho'],
  hasCalls: boolean,
): string | undefined {
  if (echo === 'never') return undefined;
  if (echo === 'with_calls' && (hasCalls || isCalling(message))) return message.reasoning ?? '';
  return message.reasoning;
}

function toWireCall(call: ToolCall, opaque: OpaqueCall = {}) {
  const called = { name: call.name, arguments: call.arguments, ...opaque.function };
  return { id: call.id, type: 'function' as const, function: called, ...opaque.call };
}
