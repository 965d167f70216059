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

/**
 * Limits of calls in a reply and of parameters in a call. More of them are an error of the model and would occupy the
 * tools for hours; the parser stops there. The first call over the limit gets one of these texts as its arguments. They
 * are not JSON, so the executor rejects the call and quotes the text to the model.
 */
export const MAX_CALLS = 1_000;
export const TOO_MANY_CALLS = `Over ${MAX_CALLS} calls`;
export const MAX_PARAMETERS = 1_000;
export const TOO_MANY_PARAMETERS = `Over ${MAX_PARAMETERS} parameters`;

/**
 * Maximum marks of the format (tags, labels, fences) in a reply beside its calls; the longest known replies have some
 * thousands. The parser does not scan beyond: text stays text, and calls are not parsed.
 */
export const MAX_MARKS = 10_000;

/** The calls up to the limit, and the first one over it. */
export function withinLimit(calls: readonly ToolCall[]): readonly ToolCall[] {
  const extra = calls[MAX_CALLS];
  return extra ? [...calls.slice(0, MAX_CALLS), { ...extra, arguments: TOO_MANY_CALLS }] : calls;
}

/** Content of a request. The messages are the same for every protocol: they never contain calls or results as text. */
export interface Conversation {
  /** The system prompt; may be empty. */
  readonly instructions: string;
  /** Earlier turns, then this run's messages so far. */
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly parameters?: ModelParameters;
  /** Whether the protocol may add stop sequences; true by default. */
  readonly mayAddStops?: boolean;
  /** Only for a protocol that can force calls. */
  readonly toolChoice?: ToolChoice;
  /** Only for a protocol with `takesFormats`. */
  readonly responseFormat?: ResponseFormat;
}

/** Context for decoding a reply. */
export interface DecodeContext {
  readonly tools: readonly Tool[];
  /** The reply's iteration, counted from 1; it makes generated call ids unique in the run. */
  readonly iteration: number;
}

/** A reply as the loop processes it. */
export interface DecodedReply {
  /** The text that is visible to the user. */
  readonly text: string;
  /** The model's reasoning; may be empty. */
  readonly thought: string;
  /**
   * The calls to execute, as the model wrote them or as a person edited them on approval. Empty if the reply was
   * truncated or filtered: a truncated call never runs.
   */
  readonly calls: readonly ToolCall[];
  /** The message for the turn, the same for every protocol; it has the calls above as the model wrote them. */
  readonly message: AssistantMessage;
}

/** Maps the pieces of a streamed reply to visible text; the concatenated output is the reply's `text`. */
export interface StreamDecoder {
  push(piece: string): string;
  /**
   * The rest of the text, held back as possible markup.
   * @param reply the whole reply; without it the text counts as cut
   */
  end(reply?: ChatResult): string;
}

/** The format of tools and calls for a model. All methods are pure. */
export abstract class Protocol {
  abstract readonly name: string;
  /** Whether the protocol can force the model to call a tool; otherwise the instructions request it. */
  readonly canForceCalls: boolean = false;
  /**
   * Whether the whole reply is the answer, so that the provider can enforce its format; otherwise the instructions
   * describe it.
   */
  readonly takesFormats: boolean = false;
  /** The system prompt's section on tools and format; empty if the request carries them separately. */
  abstract describeTools(tools: readonly Tool[]): string;
  abstract encode(conversation: Conversation): ChatRequest;
  abstract decode(result: ChatResult, context: DecodeContext): DecodedReply;
  abstract decodeStream(): StreamDecoder;
}

/**
 * The reply as it is appended to the turn. Reasoning is stored only with calls: some models require it with the
 * results. State of the provider is stored whenever the model returns it.
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
      ? { role: 'assistant', content: text, ...(signedReasoning && { signedReasoning }) }
      : { role: 'assistant', content: text, ...thoughts, toolCalls: calls };
  return { text, thought, calls, message };
}

/**
 * @param reasoning reasoning that the provider returned separately
 * @param thoughts reasoning inside the text
 */
export function joinThoughts(reasoning: string, thoughts: readonly string[]): string {
  return [reasoning, ...thoughts].filter((part) => part !== '').join('\n');
}

/** Whether the reply was truncated: its calls may be incomplete and must not run. */
export function isCut({ finishReason }: ChatResult): boolean {
  return finishReason === 'length' || finishReason === 'content_filter';
}
