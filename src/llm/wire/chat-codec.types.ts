import type { ChatRequest, ChatResult, ChatStreamPart } from '../chat.types.js';
import type { ReportedUsage } from '../usage.policy.js';

/** How one wire writes a request and reads its reply; the same for every model that speaks it. */
export interface ChatCodec {
  /** The body of the request, for JSON. */
  write(request: ChatRequest, stream: boolean): Record<string, unknown>;
  /** Reads the body of a reply that was not streamed. Throws a `WireFailure` when it is no whole reply. */
  read(body: string): ChatResult;
  /** What puts one streamed reply together. */
  openStream(): StreamedReply;
}

/** A streamed reply while it comes. Its methods throw a `WireFailure` when it is none. */
export interface StreamedReply {
  /** UTF-16 units that the model has generated so far: text, reasoning and arguments of calls. */
  readonly length: number;
  /** The token counts that have arrived so far. */
  readonly usage: ReportedUsage;
  /** Whether nothing more will come. */
  readonly isDone: boolean;
  /** Whether the reply was seen to its end. */
  readonly isComplete: boolean;
  /** Takes the data of events, and gives what they say. */
  add(events: readonly string[]): ChatStreamPart[];
  /** Takes a reply that came whole although a stream was asked for. */
  addWhole(body: string): ChatStreamPart[];
  /** The whole reply, once it is complete. */
  result(): ChatResult;
}
