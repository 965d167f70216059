import { NO_RANK, type RankRegistry } from './rank.registry.js';
import type { Vocabulary } from './vocabulary.loader.js';

/**
 * Maximum length of one merge, in bytes. Merging takes quadratic time, so a longer piece (no spaces, or one repeated
 * letter) is encoded in parts. Each cut adds at most about one token.
 */
const MAX_MERGE_BYTES = 256;

// Counting is synchronous, so all calls share one working buffer.
const encoder = new TextEncoder();
const bytes = new Uint8Array(MAX_MERGE_BYTES);
/**
 * Indexed by the start of a part: start of the next part, start of the previous one, rank of the part with the next
 * one.
 */
const next = new Int32Array(MAX_MERGE_BYTES + 1);
const previous = new Int32Array(MAX_MERGE_BYTES + 1);
const ranks = new Int32Array(MAX_MERGE_BYTES + 1);

/** Counts the tokens of a text. Names of special tokens count as plain text. */
export function countBytePairTokens(vocabulary: Vocabulary, text: string): number {
  const { pieces } = vocabulary;
  let tokens = 0;
  pieces.lastIndex = 0;
  for (let match = pieces.exec(text); match; match = pieces.exec(text)) {
    tokens += countPiece(vocabulary.ranks, match[0]);
  }
  return tokens;
}

function countPiece(vocabulary: RankRegistry, piece: string): number {
  let tokens = 0;
  for (let rest = piece; rest !== '';) {
    // Encodes as many whole characters as the buffer can hold.
    const { read, written } = encoder.encodeInto(rest, bytes);
    tokens += vocabulary.find(bytes, 0, written) === NO_RANK ? countMerged(vocabulary, written) : 1;
    rest = rest.slice(read);
  }
  return tokens;
}

/**
 * Merges the adjacent pair of lowest rank, leftmost first, until no pair is a token. This is byte-pair encoding as in
 * github.com/openai/tiktoken (`_byte_pair_merge` in src/lib.rs). Every single byte is a token.
 */
function countMerged(vocabulary: RankRegistry, length: number): number {
  for (let at = 0; at < length; at++) {
    next[at] = at + 1;
    previous[at] = at - 1;
    ranks[at] = at + 1 < length ? vocabulary.find(bytes, at, at + 2) : NO_RANK;
  }
  let parts = length;
  for (let at = lowest(length); at >= 0; at = lowest(length)) {
    const taken = next[at]!;
    const after = next[taken]!;
    next[at] = after;
    previous[after] = at;
    ranks[taken] = NO_RANK;
    ranks[at] = pairRank(vocabulary, at, length);
    const before = previous[at]!;
    if (before >= 0) ranks[before] = pairRank(vocabulary, before, length);
    parts--;
  }
  return parts;
}

/** Start of the pair of lowest rank; -1 if no pair can be merged. */
function lowest(length: number): number {
  let found = -1;
  let rank = NO_RANK;
  for (let at = 0; at < length; at++) {
    if (ranks[at]! < rank) {
      rank = ranks[at]!;
      found = at;
    }
  }
  return found;
}

/** The rank of the part at `at` merged with the next one. */
function pairRank(vocabulary: RankRegistry, at: number, length: number): number {
  const middle = next[at]!;
  return middle < length ? vocabulary.find(bytes, at, next[middle]!) : NO_RANK;
}
