import type { ChatCompletionContentPart, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from '../message.types.js';
import type { WireDialect } from './wire-dialect.types.js';

/** A message of a request; DeepSeek and GLM add `reasoning_content` to OpenAI's format. */
export type WireRequestMessage = ChatCompletionMessageParam & { reasoning_content?: string };

/**
 * Converts messages to the wire format, where tool results are text. Images of the results follow in a user message
 * after the results of one reply, with the tool's name.
 */
export function toWireMessages(messages: readonly Message[], echo: WireDialect['reasoningEcho']): WireRequestMessage[] {
  const written: WireRequestMessage[] = [];
  let shown: ChatCompletionContentPart[] = [];
  const show = (): void => {
    if (shown.length > 0) written.push({ role: 'user', content: shown });
    shown = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') show();
    written.push(toWireMessage(message, echo));
    if (message.role === 'tool') shown.push(...toShownParts(message));
  }
  show();
  return written;
}

/** Converts a message to the wire format; its content stays unchanged. */
export function toWireMessage(message: Message, echo: WireDialect['reasoningEcho']): WireRequestMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return {
        role: 'user',
        content: typeof message.content === 'string' ? message.content : message.content.map(toWirePart),
      };
    case 'assistant':
      return toWireAssistant(message, echo);
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
}

function toShownParts({ name, toolCallId, images = [] }: ToolMessage): ChatCompletionContentPart[] {
  if (images.length === 0) return [];
  return [{ type: 'text', text: `[What tool ${name} shows, call ${toolCallId}]` }, ...images.map(toWirePart)];
}

function toWirePart(part: ContentPart): ChatCompletionContentPart {
  return part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.url } };
}

function toWireAssistant(message: AssistantMessage, echo: WireDialect['reasoningEcho']): WireRequestMessage {
  const calls = message.toolCalls?.length ? message.toolCalls : undefined;
  const reasoning = echoedReasoning(message, echo);
  return {
    role: 'assistant',
    // Some servers reject '' beside calls, and OpenAI requires null.
    content: calls && message.content === '' ? null : message.content,
    ...(reasoning === undefined ? undefined : { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls.map(toWireCall) }),
  };
}

/**
 * DeepSeek answers 400 to a message with tool calls without its `reasoning_content`, even if that is empty
 * (api-docs.deepseek.com/guides/thinking_mode).
 */
function echoedReasoning(message: AssistantMessage, echo: WireDialect['reasoningEcho']): string | undefined {
  if (echo === 'never') return undefined;
  if (echo === 'with_calls' && message.toolCalls?.length) return message.reasoning ?? '';
  return message.reasoning;
}

function toWireCall(call: ToolCall) {
  return { id: call.id, type: 'function' as const, function: { name: call.name, arguments: call.arguments } };
}
