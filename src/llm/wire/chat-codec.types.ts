import type { ChatRequest, ChatResult, ChatStreamPart } from '../chat/chat.types.js';
import type { ToolRules } from '../tool-schema.mapper.js';
import type { ReportedUsage } from './reply.parser.js';

/** The use of a provider's prompt cache. */
export interface PromptCaching {
  /** The same for requests that share a prefix, up to 64 characters; absent outside of a run. */
  readonly key?: string;
}

/** Converts requests and replies of one wire format. */
export interface ChatCodec {
  /** Whether the model answers only in streams. */
  readonly isStreamOnly?: boolean;
  /** Requirements on tools: `write` gets requests that meet them. */
  readonly toolRules: ToolRules;
  /**
   * The request body, to be serialised as JSON.
   * @param caching absent if the request asks for no cache of the provider
   */
  write(request: ChatRequest, stream: boolean, caching?: PromptCaching): Record<string, unknown>;
  /** Parses the body of a reply without streaming. @throws WireFailure for an incomplete or invalid reply */
  read(body: string): ChatResult;
  /** Creates the builder of one streamed reply. */
  openStream(): StreamedReply;
}

/** A streamed reply in progress. Its methods throw a `WireFailure` for an invalid one. */
export interface StreamedReply {
  /** UTF-16 units generated so far: text, reasoning and call arguments. */
  readonly length: number;
  /** Token counts received so far. */
  readonly usage: ReportedUsage;
  /** Whether the stream has ended. */
  readonly isDone: boolean;
  /** Whether the reply is complete. */
  readonly isComplete: boolean;
  /** Parses the data of one event and appends its parts. Not called again once `isDone`. */
  add(data: string, parts: ChatStreamPart[]): void;
  /** Parses a reply without streaming to a streaming request. */
  addWhole(body: string): ChatStreamPart[];
  /** The complete reply; call it only if `isComplete`. */
  result(): ChatResult;
}
