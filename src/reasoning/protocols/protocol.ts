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
} from '../../llm/chat/index.js';
import type { Tool } from '../../tool/method/index.js';

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

const THINK = /^<think(?:ing)?>/i;
const THINK_START = /^<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?$/i;
const THINK_END = /<\/think(?:ing)?>/i;
const LONGEST_END = '</thinking>'.length;
const NO_BLANK = /\S/g;
/** The opening line of a fence around the whole reply. */
const FENCE = /^```[\w+#.-]{0,20}[ \t\r]{0,8}\n/;
const FENCE_START = /^(?:`{1,2}|```[\w+#.-]{0,20}[ \t\r]{0,8})$/;
const LONGEST_FENCE = 32;

/**
 * Extracts the `<think>` blocks at the start of a reply, perhaps in a fence: models that reason in their text write
 * them there. Later in a reply such a tag is text. A block without an end extends to the end of the reply, or is text.
 */
export class ThinkParser {
  /** One entry for each block, trimmed; complete after `end()`. */
  readonly thoughts: string[] = [];
  private mode: 'start' | 'think' | 'text' = 'start';
  /** Space at the start, which belongs to the text; empty after a block. */
  private space = '';
  private isAfterBlock = false;
  /** The opening line of a fence at the start, which belongs to the text. */
  private fence = '';
  /** Possible start of a tag or fence line at the start of the reply, or of an end tag in a block. */
  private tail = '';
  private thought = '';
  /** The start tag of the current block, with the space before it. */
  private tag = '';
  private open = '';

  /** The content of a block without an end, after the end of the reply. */
  get unclosed(): string {
    return this.open;
  }

  /** @returns the text outside of blocks, with text that was held back */
  push(piece: string): string {
    let rest = piece;
    while (this.mode !== 'text') {
      const next = this.mode === 'start' ? this.readStart(rest) : this.readThought(rest);
      if (next === null) return '';
      rest = next;
    }
    return rest;
  }

  /**
   * @param isText whether a block without an end is text
   * @returns text that was held back and is not markup
   */
  end(isText = false): string {
    const { mode } = this;
    this.mode = 'text';
    if (mode === 'start') return this.fence + this.space + this.tail;
    if (mode === 'think' && isText) return this.fence + this.tag + this.thought + this.tail;
    if (mode === 'think') this.open = this.keep(this.tail);
    return '';
  }

  /** @returns the rest, or null if all of it was consumed */
  private readStart(piece: string): string | null {
    const at = this.tail === '' ? endOfSpace(piece) : 0;
    if (!this.isAfterBlock) this.space += piece.slice(0, at);
    const known = this.tail.length;
    const head = this.tail + piece.slice(at, at + LONGEST_FENCE - known);
    if (this.mayBecomeMarkup(head)) {
      this.tail = head;
      return null;
    }
    this.tail = '';
    const opened = this.takeMarkup(head);
    if (opened > 0) return piece.slice(at + opened - known);
    this.mode = 'text';
    return this.fence + this.space + head + piece.slice(at + head.length - known);
  }

  private get mayBeFenced(): boolean {
    return this.fence === '' && !this.isAfterBlock;
  }

  private mayBecomeMarkup(head: string): boolean {
    return head === '' || THINK_START.test(head) || (this.mayBeFenced && FENCE_START.test(head));
  }

  /** @returns the length of the markup; 0 for other text */
  private takeMarkup(head: string): number {
    const start = THINK.exec(head)?.[0];
    if (start !== undefined) {
      this.mode = 'think';
      this.tag = this.space + start;
      this.space = '';
      this.isAfterBlock = true;
      return start.length;
    }
    const line = this.mayBeFenced ? FENCE.exec(head)?.[0] : undefined;
    if (line === undefined) return 0;
    this.fence = this.space + line;
    this.space = '';
    return line.length;
  }

  private readThought(piece: string): string | null {
    const text = this.tail + piece;
    const end = THINK_END.exec(text);
    if (end) {
      this.keep(text.slice(0, end.index));
      this.tail = '';
      this.mode = 'start';
      return text.slice(end.index + end[0].length);
    }
    const certain = Math.max(0, text.length - LONGEST_END);
    this.thought += text.slice(0, certain);
    this.tail = text.slice(certain);
    return null;
  }

  private keep(text: string): string {
    const thought = (this.thought + text).trim();
    if (thought !== '') this.thoughts.push(thought);
    this.thought = '';
    return thought;
  }
}

/**
 * A whole reply without the `<think>` blocks at its start, and these.
 * @param isText whether a block without an end is text; false by default
 */
export function splitThoughts(
  reply: string,
  isText?: boolean,
): { readonly text: string; readonly thoughts: readonly string[] } {
  const parser = new ThinkParser();
  const text = parser.push(reply) + parser.end(isText);
  return { text, thoughts: parser.thoughts };
}

function endOfSpace(text: string): number {
  NO_BLANK.lastIndex = 0;
  return NO_BLANK.test(text) ? NO_BLANK.lastIndex - 1 : text.length;
}
