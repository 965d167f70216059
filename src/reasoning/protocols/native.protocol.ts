import type { ChatRequest, ChatResult, Message, ToolSpec } from '../../llm/index.js';
import type { Tool } from '../../tool/index.js';
import { withinLimit } from './call-limit.policy.js';
import {
  isCut,
  Protocol,
  toDecodedReply,
  type Conversation,
  type DecodedReply,
  type StreamDecoder,
} from './protocol.js';
import { toSentMessages } from './sent-call.mapper.js';

const IDENTITY: StreamDecoder = { push: (piece) => piece, end: () => '' };

/** The provider's own function calling. */
export class NativeProtocol extends Protocol {
  readonly name = 'native';
  override readonly canForceCalls = true;
  override readonly takesFormats = true;
  /** One array of specifications for each list of tools, so that provider code can cache by identity. */
  private readonly specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

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
    return toDecodedReply(content, reasoning, isCut(result) ? [] : withinLimit(toolCalls), signedReasoning);
  }

  decodeStream(): StreamDecoder {
    return IDENTITY;
  }

  private toSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
    let specs = this.specs.get(tools);
    if (!specs) this.specs.set(tools, (specs = tools.map(({ definition }) => definition)));
    return specs;
  }
}
