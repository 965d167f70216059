import { brotliDecompressSync } from 'node:zlib';
import { PIECES, ROW_COSTS } from './piece-table.mapper.js';

const NO_TEXT = 0x811c_9dc5 | 0;
/** 2^32 divided by the golden ratio: a product's high bits depend on all bits of what is multiplied. */
const GOLDEN = 0x9e37_79b1;
// Looked up once: a global is slow to reach where code runs in a `vm` context, as under jest.
const { imul } = Math;

/** More than twice as many slots as there are entries, so that a search ends soon. */
const SLOT_BITS = 17;
const SLOT_MASK = 2 ** SLOT_BITS - 1;
/** What is known of a text: that it is a piece, that pieces begin so. */
const IS_PIECE = 1;
const GOES_ON = 2;
const FLAG_BITS = 2;
const FLAGS = IS_PIECE | GOES_ON;
/** Longest piece, in UTF-16 units. */
const LONGEST = 16;

const ASCII = 0x80;
const ASCII_BITS = 7;
const ZERO = 0x30;
const NINE = 0x39;

const ROW_BITS = 6;
const ROWS = 0x2_0000 >> ROW_BITS;
const COST_MASK = 3;
const BLANK_APART = 4;
/** What a character costs of which there is no row: its bytes. */
const BYTES_BEYOND_ROWS = 4;

/**
 * Pieces of text that are tokens to cl100k_base and o200k_base alike: the 22,000 in ASCII that are most frequent (words
 * and parts of words, perhaps with a blank or a sign before them, and groups of signs), and all that are not ASCII. It
 * holds 0.6 MB and takes about 10 ms to make, so only when needed.
 */
export class PieceRegistry {
  /** By hash: the hash but for its lowest bits, and the flags; 0 is a free slot. */
  private readonly entries = new Int32Array(2 ** SLOT_BITS);
  /** The flags of single units, and of two characters of ASCII: most searches end with them. */
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

  /** The length of the longest piece that a text has at `start`, in UTF-16 units; 0 when there is none. */
  longestAt(text: string, start: number): number {
    const first = text.charCodeAt(start);
    const flags = this.units[first]!;
    if ((flags & GOES_ON) === 0 || start + 1 === text.length) return flags & IS_PIECE;
    const hash = hashOn(NO_TEXT, first);
    const second = text.charCodeAt(start + 1);
    if ((first | second) >= ASCII) return this.longest(text, start, start + 1, hash, flags & IS_PIECE);
    const pair = this.pairs[(first << ASCII_BITS) | second]!;
    const known = pair & IS_PIECE ? 2 : flags & IS_PIECE;
    return pair & GOES_ON ? this.longest(text, start, start + 2, hashOn(hash, second), known) : known;
  }

  /** Tokens of a character beyond ASCII that is in no piece. */
  tokensApart(codePoint: number): number {
    const row = codePoint >> ROW_BITS;
    return row < ROWS ? (this.rowCosts[row]! & COST_MASK) + 1 : BYTES_BEYOND_ROWS;
  }

  /** Whether a blank right before such a character is a token of its own. */
  isBlankApart(codePoint: number): boolean {
    const row = codePoint >> ROW_BITS;
    return row >= ROWS || (this.rowCosts[row]! & BLANK_APART) !== 0;
  }

  /** The same when `hash` is that of the text up to `next`, which goes on, and `known` the longest piece in it. */
  private longest(text: string, start: number, next: number, hash: number, known: number): number {
    let longest = known;
    let longer = hash;
    for (let i = next; i < text.length; i++) {
      longer = hashOn(longer, text.charCodeAt(i));
      const entry = this.entries[this.slotOf(longer)]!;
      if ((entry & IS_PIECE) !== 0) longest = i + 1 - start;
      if ((entry & GOES_ON) === 0) return longest;
    }
    return longest;
  }

  /** Where the entry of a hash is, or the free slot that it would have. */
  private slotOf(hash: number): number {
    const { entries } = this;
    let slot = hash >>> (32 - SLOT_BITS);
    while (entries[slot] !== 0 && (entries[slot]! ^ hash) >>> FLAG_BITS !== 0) slot = (slot + 1) & SLOT_MASK;
    return slot;
  }

  /** Reads what `PIECES` is before it is compressed. What a piece has in common with the one before it is there. */
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
        this.enter(units, hashes, length, GOES_ON);
        hashes[length + 1] = hashOn(hashes[length]!, unit);
        units[length++] = unit;
      }
    }
  }

  /** Gives the text that is the first `length` of the units a flag. */
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
