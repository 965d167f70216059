/** The rank of a byte range that is not a token: higher than all ranks. */
export const NO_RANK = 0x7fff_ffff;

/**
 * A token in the list of `gpt-tokenizer`: its text, or its bytes if they are not valid UTF-8; undefined for an unused
 * rank.
 */
export type ListedToken = string | readonly number[] | undefined;

// Local reference: access to a global is slow in a `vm` context, as under jest.
const { imul } = Math;

/** At least two slots per token, for short probe sequences. */
const SLOTS_PER_TOKEN = 2;

/**
 * The ranks of tokens by their bytes: an open-addressed hash table in typed arrays. Merging looks up about three byte
 * ranges per byte. A `Map` would need a string for each: three times the CPU time and memory.
 */
export class RankRegistry {
  private readonly bytes: Uint8Array;
  /** Start of the token of each rank in `bytes`; the token ends at the next start. */
  private readonly starts: Int32Array;
  /** Rank + 1 by hash; 0 is a free slot. */
  private readonly slots: Int32Array;
  private readonly mask: number;

  /** @param tokens tokens in order of rank; an undefined one is an unused rank */
  constructor(tokens: readonly ListedToken[]) {
    const flat = Buffer.alloc(bytesOf(tokens));
    this.starts = new Int32Array(tokens.length + 1);
    const slots = 2 ** Math.ceil(Math.log2(tokens.length * SLOTS_PER_TOKEN));
    this.slots = new Int32Array(slots);
    this.mask = slots - 1;
    this.bytes = flat;
    for (let rank = 0, at = 0; rank < tokens.length; rank++) {
      const token = tokens[rank] ?? '';
      const end = at + (typeof token === 'string' ? flat.write(token, at) : token.length);
      if (typeof token !== 'string') flat.set(token, at);
      this.starts[rank + 1] = end;
      if (end > at) this.add(rank, at, end);
      at = end;
    }
  }

  /** The rank of the token `bytes[start..end)`, or `NO_RANK`. */
  find(bytes: Uint8Array, start: number, end: number): number {
    for (let slot = hash(bytes, start, end) & this.mask; ; slot = (slot + 1) & this.mask) {
      const rank = this.slots[slot]! - 1;
      if (rank < 0) return NO_RANK;
      if (this.isToken(rank, bytes, start, end)) return rank;
    }
  }

  private add(rank: number, start: number, end: number): void {
    let slot = hash(this.bytes, start, end) & this.mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask;
    this.slots[slot] = rank + 1;
  }

  private isToken(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const at = this.starts[rank]!;
    if (this.starts[rank + 1]! - at !== end - start) return false;
    for (let i = start; i < end; i++) {
      if (bytes[i] !== this.bytes[at + i - start]) return false;
    }
    return true;
  }
}

function bytesOf(tokens: readonly ListedToken[]): number {
  let bytes = 0;
  for (const token of tokens) bytes += typeof token === 'string' ? Buffer.byteLength(token) : (token?.length ?? 0);
  return bytes;
}

/** FNV-1a, with the high bits folded into the low ones, which the table uses. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = 0x811c_9dc5 | 0;
  for (let i = start; i < end; i++) value = imul(value ^ bytes[i]!, 0x0100_0193);
  return value ^ (value >>> 15);
}
