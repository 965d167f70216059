import {
  toArgumentsText,
  type ChatRequest,
  type ChatResult,
  type Message,
  type ToolCall,
  type ToolSpec,
} from '../../llm/index.js';
import type { Tool } from '../../tool/index.js';
import { withinLimit } from './call-limit.policy.js';
import {
  isCut,
  joinThoughts,
  Protocol,
  toDecodedReply,
  type Conversation,
  type DecodedReply,
  type StreamDecoder,
} from './protocol.js';
import { toSentMessages } from './sent-call.mapper.js';
import { splitThoughts, ThinkParser } from './think.parser.js';

const PLAIN: StreamDecoder = { push: (piece) => piece, end: () => '' };

/**
 * The provider's own function calling. Servers without a reasoning parser leave `<think>` at the start of the text, where
 * it is reasoning (docs.vllm.ai, "Reasoning outputs"). Without its end tag, in a complete answer, it is text.
 */
export class NativeProtocol extends Protocol {
  readonly name = 'native';
  override readonly canForceCalls = true;
  override readonly takesFormats = true;
  /** One array of specifications for each list of tools, so that provider code can cache by identity. */
  private readonly specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

  /** @param readsThoughts whether `<think>` is reasoning; otherwise it is text */
  constructor(private readonly readsThoughts = true) {
    super();
  }

  describeTools(): string {
    return '';
  }

  encode({ instructions, messages, tools, parameters, toolChoice, responseFormat }: Conversation): ChatRequest {
    const sent = toSentMessages(messages);
    const all: Message[] = instructions === '' ? sent : [{ role: 'system', content: instructions }, ...sent];
    return {
      messages: all,
      ...(tools.length > 0 && { tools: this.toSpecs(tools), ...(toolChoice !== undefined && { toolChoice }) }),
      ...(parameters && { parameters }),
      ...(responseFormat !== undefined && { responseFormat }),
    };
  }

  decode(result: ChatResult): DecodedReply {
    const { content, reasoning = '', toolCalls = [], signedReasoning } = result.message;
    const { text, thoughts } = this.readsThoughts
      ? splitThoughts(content, isAnswer(result))
      : { text: content, thoughts: [] };
    const calls = isCut(result) ? [] : withinLimit(toolCalls).map(withArgumentsText);
    return toDecodedReply(text, joinThoughts(reasoning, thoughts), calls, signedReasoning);
  }

  decodeStream(): StreamDecoder {
    if (!this.readsThoughts) return PLAIN;
    const parser = new ThinkParser();
    return {
      push: (piece) => parser.push(piece),
      end: (reply) => parser.end(reply !== undefined && isAnswer(reply)),
    };
  }

  private toSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
    let specs = this.specs.get(tools);
    if (!specs) this.specs.set(tools, (specs = tools.map(({ definition }) => definition)));
    return specs;
  }
}

/** Whether the reply is a complete answer, which must have a text. */
function isAnswer({ finishReason, message }: ChatResult): boolean {
  return finishReason === 'stop' && !message.toolCalls?.length;
}

/** A model of the application may return arguments as an object, or nothing. */
function withArgumentsText(call: ToolCall): ToolCall {
  const text = toArgumentsText(call.arguments);
  return text === call.arguments ? call : { ...call, arguments: text };
}
