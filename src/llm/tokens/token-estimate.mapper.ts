import type { ContentPart, Message } from '../chat/message.types.js';
import { PieceRegistry } from './piece.registry.js';
import type { TokenCounter } from './token-counter.js';

/**
 * Tokens of the delimiters `<|start|>`, `<|message|>` and `<|end|>`, without the role; and one token for a name. From
 * OpenAI's cookbook, "How to count tokens with tiktoken" (`num_tokens_from_messages`). Other chat formats (ChatML's
 * `<|im_start|>`, Llama 3's headers) add three to five tokens.
 */
const MESSAGE_TOKENS = 3;
const ROLE_TOKENS = 1;
const NAME_TOKENS = 1;
/** A tool call is counted as a separate message to the tool; OpenAI does not document its format. */
const CALL_TOKENS = MESSAGE_TOKENS + ROLE_TOKENS + NAME_TOKENS;

/**
 * An image of one megapixel, whatever the actual size. OpenAI counts 765 (a square of 1024 at high detail, 85 + 4 ×
 * 170), Anthropic 1,334 (width × height / 750).
 */
const IMAGE_TOKENS = 1000;

/**
 * Tokens of whole messages, with the overhead of chat formats. Additive over messages: excludes the three tokens that
 * start a reply. Includes reasoning, as if the provider required it.
 * @param instructions counter for system messages
 */
export function countMessages(
  counter: TokenCounter,
  messages: readonly Message[],
  instructions: TokenCounter = counter,
): number {
  let sum = 0;
  for (const message of messages) {
    sum += MESSAGE_TOKENS + ROLE_TOKENS;
    sum += contentTokens(message.role === 'system' ? instructions : counter, message);
  }
  return sum;
}

/** Base64 characters of audio per token: WAV of 16 bit and 16 kHz has 32,000 bytes and about 32 tokens a second. */
const AUDIO_CHARACTERS = 1333;

function partTokens(counter: TokenCounter, part: ContentPart): number {
  return part.type === 'text' ? counter.count(part.text) : IMAGE_TOKENS;
}

function contentTokens(counter: TokenCounter, message: Message): number {
  switch (message.role) {
    case 'system':
      return counter.count(message.content);
    case 'user':
      return typeof message.content === 'string'
        ? counter.count(message.content)
        : message.content.reduce((sum, part) => sum + partTokens(counter, part), 0);
    case 'assistant':
      return (message.toolCalls ?? []).reduce(
        (sum, call) => sum + CALL_TOKENS + counter.count(call.name) + counter.count(call.arguments),
        counter.count(message.content) + counter.count(message.reasoning ?? ''),
      );
    case 'tool':
      return (
        NAME_TOKENS +
        counter.count(message.name) +
        counter.count(message.content) +
        (message.images?.length ?? 0) * IMAGE_TOKENS +
        (message.audio ?? []).reduce((sum, { url }) => sum + Math.ceil(url.length / AUDIO_CHARACTERS), 0)
      );
  }
}

/** Sampling of long texts. */
export interface Sampling {
  /** Maximum length without sampling, in UTF-16 units. */
  readonly maxLength: number;
  readonly windows: number;
  /** Length of a window, in UTF-16 units. */
  readonly windowLength: number;
}

/** Standard errors to add to the mean: negligible for uniform texts, and avoids underestimates of uneven ones. */
const MARGIN = 2;

/**
 * Counts a text with `count`. A long text is extrapolated from evenly spaced windows, by their mean and standard error,
 * so the CPU time is bounded. Windows cut words, so the result tends to be too high.
 */
export function countSampled(
  text: string,
  { maxLength, windows, windowLength }: Sampling,
  count: (text: string) => number,
): number {
  if (text.length <= maxLength) return count(text);
  const step = (text.length - windowLength) / (windows - 1);
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < windows; i++) {
    const start = Math.floor(i * step);
    const tokens = count(text.slice(start, start + windowLength));
    sum += tokens;
    squares += tokens * tokens;
  }
  const mean = sum / windows;
  const error = Math.sqrt(Math.max(0, squares / windows - mean * mean) / windows);
  return Math.ceil(((mean + MARGIN * error) * text.length) / windowLength);
}

/** Costs in hundredths of a token. Each digit is a token, as for Qwen, Gemma and Llama 2; GPT combines up to three. */
const COST = {
  token: 100,
  /** Whitespace after whitespace: equal or different. */
  sameBlank: 2,
  sameSpace: 7,
  otherSpace: 50,
} as const;

const WORD = 1;
const SIGN = 2;
const DIGIT = 3;
const CONTROL = 4;
const SPACE = 5;

const ASCII = 0x80;
const kinds = new Uint8Array(ASCII).fill(SIGN);
kinds.fill(CONTROL, 0, 0x20);
kinds.fill(SPACE, 0x09, 0x0e);
kinds[0x20] = SPACE;
kinds[0x7f] = CONTROL;
kinds.fill(DIGIT, 0x30, 0x3a);
kinds.fill(WORD, 0x41, 0x5b);
kinds.fill(WORD, 0x61, 0x7b);

const BLANK = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

let registry: PieceRegistry | undefined;

/**
 * Estimates the tokens of a text for a model without a local vocabulary, in one pass. It repeatedly takes the longest
 * known piece and counts the bytes between pieces.
 * The result is at most a tenth below o200k_base and cl100k_base for all kinds of text, invented words, keys and random
 * letters included (a text of a few words may differ by a token). For prose and code it is mostly 1.0 to 1.25 times the
 * exact count, and higher with many digits. Only a repeated short string that byte-pair encoding splits differently
 * falls below ("haswi" thirty times: 0.67).
 */
export function estimateTokens(text: string): number {
  const pieces = (registry ??= new PieceRegistry());
  let cost = 0;
  for (let i = 0; i < text.length;) {
    const length = pieces.longestAt(text, i);
    if (length > 0) {
      cost += COST.token;
      i += length;
    } else {
      const code = text.codePointAt(i)!;
      cost += code < ASCII ? asciiCost(pieces, text, i) : COST.token * pieces.tokensApart(code);
      i += code > 0xffff ? 2 : 1;
    }
  }
  return Math.ceil(cost / COST.token);
}

/** The cost of the ASCII character at `i`, which starts no piece. */
function asciiCost(pieces: PieceRegistry, text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (kinds[code] !== SPACE) return COST.token;
  if (code === BLANK && i + 1 < text.length && kindOf(text.charCodeAt(i + 1)) !== SPACE) {
    return isPartOfNext(pieces, text, i) ? 0 : COST.token;
  }
  const previous = i > 0 ? text.charCodeAt(i - 1) : 0;
  return kindOf(previous) === SPACE ? furtherSpaceCost(code, previous) : COST.token;
}

/** Whether a blank is part of the next token: of a sign, or of the first bytes of a character outside of all pieces. */
function isPartOfNext(pieces: PieceRegistry, text: string, i: number): boolean {
  const next = text.codePointAt(i + 1)!;
  if (next < ASCII) return kinds[next] === WORD || kinds[next] === SIGN;
  return pieces.longestAt(text, i + 1) === 0 && !pieces.isBlankApart(next);
}

function furtherSpaceCost(code: number, previous: number): number {
  if (isRareSpace(code)) return COST.token;
  if (isRareSpace(previous)) return previous === CARRIAGE_RETURN && code === LINE_FEED ? COST.otherSpace : COST.token;
  // Indentation before a word is not part of the preceding line break.
  if (code !== previous) return previous === LINE_FEED ? COST.token : COST.otherSpace;
  return code === BLANK ? COST.sameBlank : COST.sameSpace;
}

function isRareSpace(code: number): boolean {
  return code > LINE_FEED && code !== BLANK;
}

function kindOf(unit: number): number {
  return unit < ASCII ? kinds[unit]! : WORD;
}
