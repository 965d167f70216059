import type { AssistantMessage, ChatRequest, ChatResult, Message, ToolSpec } from '../../llm/index.js';
import { toolResultText, type Tool, type ToolResult } from '../../tool/index.js';
import {
  Protocol,
  type Conversation,
  type DecodedReply,
  type RequestedToolCall,
  type StreamDecoder,
} from './protocol.js';

const IDENTITY: StreamDecoder = { push: (text) => text };

/** Function calling as the provider itself knows it. */
export class NativeProtocol extends Protocol {
  readonly name = 'native';
  /** One array of specifications a set of tools, so that what a provider makes of it is made once. */
  private readonly specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

  describeTools(): string {
    return '';
  }

  encode({ instructions, messages, tools, parameters }: Conversation): ChatRequest {
    const all: Message[] =
      instructions === '' ? [...messages] : [{ role: 'system', content: instructions }, ...messages];
    return {
      messages: all,
      ...(tools.length > 0 && { tools: this.toSpecs(tools) }),
      ...(parameters && { parameters }),
    };
  }

  decode({ message, finishReason }: ChatResult): DecodedReply {
    const isCut = finishReason === 'length' || finishReason === 'content_filter';
    const calls = isCut ? [] : (message.toolCalls ?? []);
    return { text: message.content, thought: message.reasoning ?? '', calls, message: toTurnMessage(message, calls) };
  }

  decodeStream(): StreamDecoder {
    return IDENTITY;
  }

  encodeResults(calls: readonly RequestedToolCall[], results: readonly ToolResult[]): Message[] {
    return calls.map((call, i) => ({
      role: 'tool',
      toolCallId: call.id,
      name: call.name,
      content: toolResultText(results[i]!),
    }));
  }

  private toSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
    let specs = this.specs.get(tools);
    if (!specs) this.specs.set(tools, (specs = tools.map(({ definition }) => definition)));
    return specs;
  }
}

/** Thoughts are kept only beside calls: some models want them back with the results. */
function toTurnMessage(
  { content, reasoning }: AssistantMessage,
  calls: readonly RequestedToolCall[],
): AssistantMessage {
  if (calls.length === 0) return { role: 'assistant', content };
  return { role: 'assistant', content, ...(reasoning !== undefined && { reasoning }), toolCalls: calls };
}
