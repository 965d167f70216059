import type {
  AssistantMessage,
  ChatRequest,
  ChatResult,
  Message,
  ModelParameters,
  ResponseFormat,
  SignedReasoning,
  ToolCall,
  ToolChoice,
} from '../../llm/index.js';
import type { Tool } from '../../tool/index.js';

/** What a request is made of. The messages are the same for every protocol: calls and results are never text in them. */
export interface Conversation {
  /** The system prompt; empty for none. */
  readonly instructions: string;
  /** Earlier turns, then this run's messages so far. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly parameters?: ModelParameters;
  /** Only for a protocol that can make a model call. */
  readonly toolChoice?: ToolChoice;
  /** Only for a protocol that takes formats. */
  readonly responseFormat?: ResponseFormat;
}

/** What a reply is read against. */
export interface DecodeContext {
  readonly tools: readonly Tool[];
  /** The place of the reply in its run, counted from 1; calls without an id get one that is unique in the run. */
  readonly iteration: number;
}

/** A reply as the loop understands it. */
export interface DecodedReply {
  /** What the user may read. */
  readonly text: string;
  /** What the model thought; empty when it did not say. */
  readonly thought: string;
  /**
   * The calls to execute: as the model wrote them, or with the arguments of the person who approved them. Empty when the
   * reply was cut off or filtered: a cut call never runs.
   */
  readonly calls: readonly ToolCall[];
  /** The message as it enters the turn, the same for every protocol; it has the calls above as the model wrote them. */
  readonly message: AssistantMessage;
}

/** Turns the pieces of a streamed reply into what the user may read of them; a sum of all pieces is the reply's `text`. */
export interface StreamDecoder {
  push(piece: string): string;
  /** What was held back because it could have become something else. */
  end(): string;
}

/** How tools and calls are written for a model. Nothing of it has effects: the same input gives the same output. */
export abstract class Protocol {
  abstract readonly name: string;
  /** Whether a model can be made to call a tool by it; otherwise it is told to. */
  readonly canForceCalls: boolean = false;
  /** Whether a whole reply is the answer, so that the model can be held to its format; otherwise it is told of it. */
  readonly takesFormats: boolean = false;
  /** What the system prompt has to say about the tools and the format; empty when they go beside it. */
  abstract describeTools(tools: readonly Tool[]): string;
  abstract encode(conversation: Conversation): ChatRequest;
  abstract decode(result: ChatResult, context: DecodeContext): DecodedReply;
  abstract decodeStream(): StreamDecoder;
}

/**
 * The reply as it enters the turn. Thoughts are kept only beside calls, where some models want them back with the
 * results.
 */
export function toDecodedReply(
  text: string,
  thought: string,
  calls: readonly ToolCall[],
  signedReasoning?: SignedReasoning,
): DecodedReply {
  const thoughts = { ...(thought !== '' && { reasoning: thought }), ...(signedReasoning && { signedReasoning }) };
  const message: AssistantMessage =
    calls.length === 0
      ? { role: 'assistant', content: text }
      : { role: 'assistant', content: text, ...thoughts, toolCalls: calls };
  return { text, thought, calls, message };
}

/**
 * @param reasoning what the model said it thought beside its text
 * @param thoughts what it thought in it
 */
export function joinThoughts(reasoning: string, thoughts: readonly string[]): string {
  return [reasoning, ...thoughts].filter((part) => part !== '').join('\n');
}

/** Whether the reply ended before the model had said all: its calls may be cut and must not run. */
export function isCut({ finishReason }: ChatResult): boolean {
  return finishReason === 'length' || finishReason === 'content_filter';
}
