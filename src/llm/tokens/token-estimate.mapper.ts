import { PieceRegistry } from './piece.registry.js';

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
