import { NO_RANK, type RankRegistry } from './rank.registry.js';
import type { Vocabulary } from './vocabulary.types.js';

/**
 * Longest stretch that is merged at once, in bytes. Merging is quadratic in it, so a longer piece (no spaces, one
 * letter a thousand times) is encoded in parts: at most about one token more for each cut.
 */
const MAX_MERGE_BYTES = 256;

// Counting never waits, so one set of working space serves all.
const encoder = new TextEncoder();
const bytes = new Uint8Array(MAX_MERGE_BYTES);
/** By the place where a part begins: where the next one begins, where the one before it does, the rank of it with the next. */
const next = new Int32Array(MAX_MERGE_BYTES + 1);
const previous = new Int32Array(MAX_MERGE_BYTES + 1);
const ranks = new Int32Array(MAX_MERGE_BYTES + 1);

/** Tokens of a text in a vocabulary. Names of special tokens in it are text like any other. */
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
    // Takes as many whole characters as there is room for.
    const { read, written } = encoder.encodeInto(rest, bytes);
    tokens += vocabulary.find(bytes, 0, written) === NO_RANK ? countMerged(vocabulary, written) : 1;
    rest = rest.slice(read);
  }
  return tokens;
}

/**
 * Merges the neighbours of lowest rank, the leftmost first, until no two of them are a token: byte-pair encoding as
 * github.com/openai/tiktoken does it (`_byte_pair_merge` in src/lib.rs). Every single byte is a token.
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

/** Where the pair of lowest rank begins, or -1 when nothing is left to merge. */
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

/** The rank of the part at `at` together with the next one. */
function pairRank(vocabulary: RankRegistry, at: number, length: number): number {
  const middle = next[at]!;
  return middle < length ? vocabulary.find(bytes, at, next[middle]!) : NO_RANK;
}
