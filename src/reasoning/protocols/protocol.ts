import type { ChatRequest, ChatResult, Message, ModelParameters } from '../../llm/index.js';
import type { Tool, ToolResult } from '../../tool/index.js';

/** What a request is made of. */
export interface Conversation {
  /** The system prompt; empty for none. */
  readonly instructions: string;
  /** Earlier turns, then this run's messages so far. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly parameters?: ModelParameters;
}

/** A tool call that a reply asks for. */
export interface RequestedToolCall {
  /** Unique within the reply. */
  readonly id: string;
  readonly name: string;
  /** Raw text, JSON if the model kept to the rules. */
  readonly arguments: string;
}

/** A reply as the loop understands it. */
export interface DecodedReply {
  /** What the user may read. */
  readonly text: string;
  /** What the model thought; empty when it did not say. */
  readonly thought: string;
  /** Empty when the reply was cut off or filtered: a cut call never runs. */
  readonly calls: readonly RequestedToolCall[];
  /** The message as it enters the turn; it names exactly the calls above. */
  readonly message: Message;
}

/** Turns the pieces of a streamed reply into what the user may read of them. */
export interface StreamDecoder {
  push(text: string): string;
}

/** How tools and calls are written for a model. All of it is pure. */
export abstract class Protocol {
  abstract readonly name: string;
  /** What the system prompt has to say about the tools; empty when they go beside it. */
  abstract describeTools(tools: readonly Tool[]): string;
  abstract encode(conversation: Conversation): ChatRequest;
  abstract decode(result: ChatResult): DecodedReply;
  abstract decodeStream(): StreamDecoder;
  /** The messages that tell the model what came of its calls, in the order of the calls. */
  abstract encodeResults(calls: readonly RequestedToolCall[], results: readonly ToolResult[]): Message[];
}
