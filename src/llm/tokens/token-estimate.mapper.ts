import { PieceRegistry } from './piece.registry.js';

/** Costs in hundredths of a token. Each digit is a token, as it is to Qwen, Gemma and Llama 2; GPT takes three at once. */
const COST = {
  token: 100,
  /** Whitespace after whitespace: the same, another. */
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
 * Estimates the tokens of a text for a model whose vocabulary is not here, in one pass: it takes the longest piece that is
 * known, again and again, and counts what lies between by its bytes. No kind of text comes out more than a tenth below
 * o200k_base and cl100k_base, be it invented words, keys or letters at random (texts of a few words perhaps a token more);
 * prose and code mostly 1.0 to 1.25 times as much as they count, and the more the more digits they have. What does come
 * out less is a short string that byte-pair encoding cuts otherwise, and nothing else ("haswi" thirty times: 0.67).
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

/** The cost of the character at `i`, of ASCII, which begins no piece. */
function asciiCost(pieces: PieceRegistry, text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (kinds[code] !== SPACE) return COST.token;
  if (code === BLANK && i + 1 < text.length && kindOf(text.charCodeAt(i + 1)) !== SPACE) {
    return isPartOfNext(pieces, text, i) ? 0 : COST.token;
  }
  const previous = i > 0 ? text.charCodeAt(i - 1) : 0;
  return kindOf(previous) === SPACE ? furtherSpaceCost(code, previous) : COST.token;
}

/** Whether a blank is part of what comes next: of a sign, or with its first bytes of a character that is in no piece. */
function isPartOfNext(pieces: PieceRegistry, text: string, i: number): boolean {
  const next = text.codePointAt(i + 1)!;
  if (next < ASCII) return kinds[next] === WORD || kinds[next] === SIGN;
  return pieces.longestAt(text, i + 1) === 0 && !pieces.isBlankApart(next);
}

function furtherSpaceCost(code: number, previous: number): number {
  if (isRareSpace(code)) return COST.token;
  if (isRareSpace(previous)) return previous === CARRIAGE_RETURN && code === LINE_FEED ? COST.otherSpace : COST.token;
  // What stands before a word in its line is no part of the line's end.
  if (code !== previous) return previous === LINE_FEED ? COST.token : COST.otherSpace;
  return code === BLANK ? COST.sameBlank : COST.sameSpace;
}

function isRareSpace(code: number): boolean {
  return code > LINE_FEED && code !== BLANK;
}

function kindOf(unit: number): number {
  return unit < ASCII ? kinds[unit]! : WORD;
}
