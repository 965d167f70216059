import type { ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ReportedUsage } from '../usage.policy.js';

/** Converts requests and replies of one wire format. */
export interface ChatCodec {
  /** The request body, to be serialised as JSON. */
  write(request: ChatRequest, stream: boolean): Record<string, unknown>;
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
  /** Parses the data of events and returns their parts. */
  add(events: readonly string[]): ChatStreamPart[];
  /** Parses a reply without streaming to a streaming request. */
  addWhole(body: string): ChatStreamPart[];
  /** The complete reply; call it only if `isComplete`. */
  result(): ChatResult;
}
