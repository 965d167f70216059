import { brotliDecompressSync } from 'node:zlib';
import { PIECES, ROW_COSTS } from './piece-table.data.js';

const NO_TEXT = 0x811c_9dc5 | 0;
/** 2^32 divided by the golden ratio: the high bits of a product depend on all bits of the factor. */
const GOLDEN = 0x9e37_79b1;
// Local reference: access to a global is slow in a `vm` context, as under jest.
const { imul } = Math;

/** More than twice as many slots as entries, for short probe sequences. */
const SLOT_BITS = 17;
const SLOT_MASK = 2 ** SLOT_BITS - 1;
/** Flags of a text: it is a piece, or a prefix of longer pieces. */
const IS_PIECE = 1;
const CONTINUES = 2;
const FLAG_BITS = 2;
const FLAGS = IS_PIECE | CONTINUES;
/** Length of the longest piece, in UTF-16 units. */
const LONGEST = 16;

const ASCII = 0x80;
const ASCII_BITS = 7;
const ZERO = 0x30;
const NINE = 0x39;

const ROW_BITS = 6;
const ROWS = 0x2_0000 >> ROW_BITS;
const COST_MASK = 3;
const BLANK_APART = 4;
/** Tokens of a character outside the table: its bytes. */
const BYTES_BEYOND_ROWS = 4;

/**
 * Pieces of text that are tokens in both cl100k_base and o200k_base: the 22,000 most frequent in ASCII (words and their
 * parts, with or without a preceding blank or sign, and groups of signs), and all that are not ASCII. It takes 0.6 MB
 * and about 10 ms to build, so it is built on demand.
 */
export class PieceRegistry {
  /** Open-addressed hash table: each entry is the hash, with flags in the lowest bits; 0 is a free slot. */
  private readonly entries = new Int32Array(2 ** SLOT_BITS);
  /** Flags of single units and of pairs of ASCII characters; most searches end here. */
  private readonly units = new Uint8Array(0x1_0000);
  private readonly pairs = new Uint8Array(ASCII * ASCII);
  private readonly rowCosts = new Uint8Array(ROWS);

  constructor() {
    this.enterAll(brotliDecompressSync(Buffer.from(PIECES, 'base64')).toString());
    for (const [i, pair] of Buffer.from(ROW_COSTS, 'base64').entries()) {
      this.rowCosts[2 * i] = pair & 15;
      this.rowCosts[2 * i + 1] = pair >> 4;
    }
  }

  /** The length of the longest piece at `start`, in UTF-16 units; 0 if there is no piece. */
  longestAt(text: string, start: number): number {
    const first = text.charCodeAt(start);
    const flags = this.units[first]!;
    if ((flags & CONTINUES) === 0 || start + 1 === text.length) return flags & IS_PIECE;
    const hash = hashOn(NO_TEXT, first);
    const second = text.charCodeAt(start + 1);
    if ((first | second) >= ASCII) return this.longest(text, start, start + 1, hash, flags & IS_PIECE);
    const pair = this.pairs[(first << ASCII_BITS) | second]!;
    const known = pair & IS_PIECE ? 2 : flags & IS_PIECE;
    return pair & CONTINUES ? this.longest(text, start, start + 2, hashOn(hash, second), known) : known;
  }

  /** Tokens of a non-ASCII character outside of all pieces. */
  tokensApart(codePoint: number): number {
    const row = codePoint >> ROW_BITS;
    return row < ROWS ? (this.rowCosts[row]! & COST_MASK) + 1 : BYTES_BEYOND_ROWS;
  }

  /** Whether a blank before such a character is a separate token. */
  isBlankApart(codePoint: number): boolean {
    const row = codePoint >> ROW_BITS;
    return row >= ROWS || (this.rowCosts[row]! & BLANK_APART) !== 0;
  }

  /**
   * Continues a search.
   * @param hash hash of the text up to `next`, which is a prefix of longer pieces
   * @param known length of the longest piece so far
   */
  private longest(text: string, start: number, next: number, hash: number, known: number): number {
    let longest = known;
    let longer = hash;
    for (let i = next; i < text.length; i++) {
      longer = hashOn(longer, text.charCodeAt(i));
      const entry = this.entries[this.slotOf(longer)]!;
      if ((entry & IS_PIECE) !== 0) longest = i + 1 - start;
      if ((entry & CONTINUES) === 0) return longest;
    }
    return longest;
  }

  /** The slot of a hash, or the free slot for it. */
  private slotOf(hash: number): number {
    const { entries } = this;
    let slot = hash >>> (32 - SLOT_BITS);
    while (entries[slot] !== 0 && (entries[slot]! ^ hash) >>> FLAG_BITS !== 0) slot = (slot + 1) & SLOT_MASK;
    return slot;
  }

  /** Parses the decompressed `PIECES`, in which each piece omits the prefix that it shares with its predecessor. */
  private enterAll(coded: string): void {
    const units = new Uint16Array(LONGEST + 1);
    const hashes = new Int32Array(LONGEST + 1).fill(NO_TEXT);
    let length = 0;
    for (let i = 0; i <= coded.length; i++) {
      const unit = i < coded.length ? coded.charCodeAt(i) : ZERO;
      if (unit >= ZERO && unit <= NINE) {
        this.enter(units, hashes, length, IS_PIECE);
        length = unit - ZERO;
      } else {
        this.enter(units, hashes, length, CONTINUES);
        hashes[length + 1] = hashOn(hashes[length]!, unit);
        units[length++] = unit;
      }
    }
  }

  /** Sets a flag of the text of the first `length` units. */
  private enter(units: Uint16Array, hashes: Int32Array, length: number, flag: number): void {
    const hash = hashes[length]!;
    const slot = this.slotOf(hash);
    this.entries[slot] = (hash & ~FLAGS) | (this.entries[slot]! & FLAGS) | flag;
    if (length === 1) this.units[units[0]!]! |= flag;
    const isPair = length === 2 && (units[0]! | units[1]!) < ASCII;
    if (isPair) this.pairs[(units[0]! << ASCII_BITS) | units[1]!]! |= flag;
  }
}

function hashOn(hash: number, unit: number): number {
  return imul(hash ^ unit, GOLDEN);
}
