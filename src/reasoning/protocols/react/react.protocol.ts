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
import { toTextMessages } from './message-text.mapper.js';
import { ReplyParser } from './reply.parser.js';
import { describeTools } from './tool-text.builder.js';

/** OpenAI and compatible providers reject more. */
const MAX_STOPS = 4;
/** Prevents invented results. */
const STOP = '\nObservation:';

/** Thought, Action, Action Input, Observation and Final Answer as text, for models without function calling. */
export class ReactProtocol extends Protocol {
  readonly name = 'react';

  describeTools(tools: readonly Tool[]): string {
    return describeTools(tools);
  }

  encode({ instructions, messages, parameters, mayAddStops = true }: Conversation): ChatRequest {
    const written = toTextMessages(messages);
    const all: Message[] = instructions === '' ? written : [{ role: 'system', content: instructions }, ...written];
    if (!mayAddStops) return { messages: all, ...(parameters && { parameters }) };
    // Drop our stop sequence if the caller uses all of them: decoding drops an invented observation anyway.
    const stop = [...new Set([...(parameters?.stop ?? []), STOP])].slice(0, MAX_STOPS);
    return { messages: all, parameters: { ...parameters, stop } };
  }

  decode(result: ChatResult, { tools, iteration }: DecodeContext): DecodedReply {
    const { content, reasoning = '' } = result.message;
    const parser = new ReplyParser();
    const text = parser.push(content) + parser.end();
    const { thoughts, calls } = parser.found;
    const thought = joinThoughts(reasoning, thoughts);
    return toDecodedReply(text, thought, isCut(result) ? [] : toToolCalls(calls, tools, iteration));
  }

  decodeStream(): StreamDecoder {
    return new ReplyParser();
  }
}
