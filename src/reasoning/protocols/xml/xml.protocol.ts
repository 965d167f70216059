import type { ChatRequest, ChatResult, Message } from '../../../llm/index.js';
import type { Tool } from '../../../tool/index.js';
import {
  isCut,
  joinThoughts,
  Protocol,
  toDecodedReply,
  type Conversation,
  type DecodeContext,
  type DecodedReply,
  type StreamDecoder,
} from '../protocol.js';
import { toToolCalls } from './call.mapper.js';
import { toTextMessages } from './message.mapper.js';
import { ReplyParser } from './reply.parser.js';
import { describe } from './tool-text.builder.js';

/**
 * Tools and calls as XML in plain text, for models without function calling. It sets no stop sequence: some models
 * reject one, and the text after the calls is dropped anyway.
 */
export class XmlProtocol extends Protocol {
  readonly name = 'xml';

  describeTools(tools: readonly Tool[]): string {
    return describe(tools);
  }

  encode({ instructions, messages, tools, parameters }: Conversation): ChatRequest {
    const system: Message[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
    return { messages: [...system, ...toTextMessages(messages, tools)], ...(parameters && { parameters }) };
  }

  decode(result: ChatResult, { tools, iteration }: DecodeContext): DecodedReply {
    const { content, reasoning = '' } = result.message;
    const parser = new ReplyParser();
    const text = parser.push(content) + parser.end();
    const thought = joinThoughts(reasoning, parser.thoughts);
    return toDecodedReply(text, thought, isCut(result) ? [] : toToolCalls(parser.calls, tools, iteration));
  }

  decodeStream(): StreamDecoder {
    return new ReplyParser();
  }
}
