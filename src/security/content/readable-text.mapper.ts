import type { Span } from './content.types.js';

/** A text in the normalised form for finders, with the original position of each of its UTF-16 units. */
export interface ReadableText {
  readonly text: string;
  /** Original span of a readable span. */
  toOriginal(span: Span): Span;
  /** Index of the first readable unit that comes from the original unit at this index or a later one. */
  toReadable(at: number): number;
}

/** A text without a match is already normalised. */
// oxlint-disable-next-line no-control-regex -- the range is all of ASCII
const FOREIGN = /[^\x00-\x7f]|\\(?:u[0-9a-fA-F]{4}|\/)/;
/** A character that may represent another one: a JSON escape, or a character with combining marks. */
// oxlint-disable-next-line no-control-regex -- the range is all of ASCII
const PIECE = /\\+(?:u[0-9a-fA-F]{4}|\/)|[^\x00-\x7f]\p{M}{0,8}|[\x00-\x7f]\p{M}{1,8}/gu;
const ESCAPE = /^\\+(?:u([0-9a-fA-F]{4})|\/)$/;
/** The most frequent characters that represent only themselves. */
const IDEOGRAPH = /^[\u3400-\u4dbf\u4e00-\u9fff]$/;
/** Zero-width characters, and marks that change only the appearance of a character. */
const INVISIBLE = /[\p{Cf}\ufe00-\ufe0f\u034f\u20e3]/gu;
const DASH = /[\p{Pd}\u2043\u2212]/gu;
const DOT = /[\u00b7\u2219\u22c5]/g;
const DIGIT = /\p{Nd}/u;
const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/**
 * Normalises a text: Unicode NFKC, without invisible characters, with ASCII digits, dashes and dots. The JSON escapes
 * `\uXXXX` and `\/` are decoded.
 */
export function readableText(original: string): ReadableText {
  return FOREIGN.test(original) ? new MappedText(original) : new SameText(original);
}

class SameText implements ReadableText {
  constructor(readonly text: string) {}

  toOriginal(span: Span): Span {
    return span;
  }

  toReadable(at: number): number {
    return at;
  }
}

class MappedText implements ReadableText {
  readonly text: string;
  /** By unit of the readable text: start and end of its original. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(original: string) {
    const pieces: string[] = [];
    let copied = 0;
    for (const { index, 0: piece } of original.matchAll(PIECE)) {
      pieces.push(this.copied(original, copied, index));
      copied = index + piece.length;
      const read = readableCharacter(piece);
      pieces.push(read);
      for (let n = 0; n < read.length; n++) this.place(index, copied);
    }
    pieces.push(this.copied(original, copied, original.length));
    this.text = pieces.join('');
  }

  toOriginal({ start, end }: Span): Span {
    return { start: this.starts[start]!, end: this.ends[end - 1]! };
  }

  toReadable(at: number): number {
    let [low, high] = [0, this.starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private copied(original: string, start: number, end: number): string {
    for (let at = start; at < end; at++) this.place(at, at + 1);
    return original.slice(start, end);
  }

  private place(start: number, end: number): void {
    this.starts.push(start);
    this.ends.push(end);
  }
}

function readableCharacter(piece: string): string {
  if (IDEOGRAPH.test(piece)) return piece;
  const escape = ESCAPE.exec(piece);
  const decoded = escape ? decodedEscape(escape[1]) : piece;
  return decoded
    .replace(INVISIBLE, '')
    .normalize('NFKC')
    .replace(DASH, '-')
    .replace(DOT, '.')
    .replace(FOREIGN_DIGIT, asciiDigit);
}

function decodedEscape(hex: string | undefined): string {
  return hex === undefined ? '/' : String.fromCharCode(Number.parseInt(hex, 16));
}

/** Unicode's decimal digits are in runs of ten, from 0 to 9. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}
