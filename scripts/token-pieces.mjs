// Writes the table for token estimates (src/llm/tokens/piece-table.data.ts, or into the folder in the first argument):
// the pieces of text that are tokens, and the cost of characters outside of all pieces. All values are computed from the
// vocabularies cl100k_base and o200k_base of `gpt-tokenizer`.
import { writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base';
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';

/** Number of ASCII pieces, by rank. With 8,000 the estimate of English prose is 1.3 times too high, with 16,000 1.18 times. */
const ASCII_PIECES = 22_000;
/** Longest piece, in UTF-16 units; longer tokens are ruler lines of repeated signs. */
const MAX_PIECE = 16;
/** A word with a preceding sign or blank; signs with following line ends. Digits are counted one by one. */
const SHAPES = [/^[^A-Za-z0-9\r\n\u0080-\uffff]?[A-Za-z\u0080-\uffff]+$/, /^ ?[!-/:-@[-`{-~]+[\r\n]*$/];

/** Characters that share all UTF-8 bytes except the last; those above U+1FFFF are rarely tokens. */
const ROW = 64;
const ROWS = 0x2_0000 / ROW;

const pieces = selectPieces();
const table = `// Written by \`npm run tokens:table\`.
/**
 * The sorted pieces, compressed by Brotli. Each has a digit, the number of units in common with its predecessor (at most 9),
 * and the remaining units.
 */
export const PIECES =
  '${brotliCompressSync(frontCoded(pieces)).toString('base64')}';

/**
 * The cost of characters outside of all pieces, by rows of 64 up to U+1FFFF, two rows per byte: the tokens minus one, plus 4
 * if a preceding blank is one more token.
 */
export const ROW_COSTS =
  '${packRows(pieces).toString('base64')}';
`;
writeFileSync(`${process.argv[2] ?? 'src/llm/tokens'}/piece-table.data.ts`, table);

/** The tokens of both vocabularies that match a shape: the most frequent ASCII tokens and all non-ASCII tokens. */
function selectPieces() {
  const both = new Set(o200k.filter((token) => typeof token === 'string'));
  const candidates = cl100k.filter(
    (token) => both.has(token) && token.length <= MAX_PIECE && isPiece(token) && isTakenWhole(token),
  );
  const ascii = candidates.filter((token) => isAscii(token) && token.length > 1).slice(0, ASCII_PIECES);
  return new Set([...ascii, ...candidates.filter((token) => !isAscii(token))]);
}

function isPiece(token) {
  return SHAPES.some((shape) => shape.test(token));
}

/** For a repeated character, byte-pair encoding often takes pairs although the longer run is a token too. */
function isTakenWhole(token) {
  return !/^(.)\1+$/.test(token) || dearest(token.repeat(20)) <= 21;
}

function isAscii(token) {
  return Buffer.byteLength(token) === token.length;
}

function frontCoded(tokens) {
  let before = '';
  let coded = '';
  for (const token of [...tokens].toSorted((a, b) => (a < b ? -1 : 1))) {
    let common = 0;
    while (common < 9 && common < before.length && token[common] === before[common]) common++;
    // A lone surrogate cannot be encoded.
    if (common > 0 && /[\uD800-\uDBFF]/.test(token[common - 1])) common--;
    coded += common + token.slice(common);
    before = token;
  }
  return coded;
}

function packRows(known) {
  const bytes = Buffer.alloc(ROWS / 2);
  for (let row = 0; row < ROWS; row++) bytes[row >> 1] |= rowCost(row, known) << (4 * (row & 1));
  return bytes;
}

function rowCost(row, known) {
  const characters = Array.from({ length: ROW }, (_, i) => String.fromCodePoint(row * ROW + i)).filter(
    (character) => !isAscii(character) && !known.has(character) && !/\p{Surrogate}/u.test(character),
  );
  if (characters.length === 0) return 0;
  const alone = dearest(characters.join(''));
  const spaced = dearest(characters.join(' '));
  const cost = Math.min(4, Math.max(1, Math.round(alone / characters.length)));
  return cost - 1 + (spaced - alone > characters.length / 4 ? 4 : 0);
}

function dearest(text) {
  return Math.max(countCl100k(text), countO200k(text));
}
