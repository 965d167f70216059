import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { AssistantMessage, AudioPart, ContentPart, Message, ToolCall, ToolMessage } from '../message.types.js';
import { type OpaqueCall, returnedFields, type StateOwner } from './opaque-field.mapper.js';
import { toSignedCall } from './thought-signature.mapper.js';
import type { WireDialect } from './wire-dialect.types.js';

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
