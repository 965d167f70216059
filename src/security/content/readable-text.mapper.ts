import type { Span } from './content.types.js';

/** A text in the form that finders read, with the place of each of its UTF-16 units in the original text. */
export interface ReadableText {
  readonly text: string;
  /** The span of the original text from which a span of the readable text was made. */
  toOriginal(span: Span): Span;
  /** The first readable unit that was made from the original unit at this index or from a later one. */
  toReadable(at: number): number;
}

/** Texts without these characters are readable as they are. */
// oxlint-disable-next-line no-control-regex
const FOREIGN = /[^\x00-\x7f]|\\(?:u[0-9a-fA-F]{4}|\/)/;
/** A character that may represent another one: a JSON escape, or a character with its combining marks, of which texts have few. */
// oxlint-disable-next-line no-control-regex
const PIECE = /\\+(?:u[0-9a-fA-F]{4}|\/)|[^\x00-\x7f]\p{M}{0,8}|[\x00-\x7f]\p{M}{1,8}/gu;
const ESCAPE = /^\\+(?:u([0-9a-fA-F]{4})|\/)$/;
/** The most frequent characters that represent only themselves. */
const IDEOGRAPH = /^[\u3400-\u4dbf\u4e00-\u9fff]$/;
/** Characters without width, and marks that change only the look of a character. */
const INVISIBLE = /[\p{Cf}\ufe00-\ufe0f\u034f\u20e3]/gu;
const DASH = /[\p{Pd}\u2043\u2212]/gu;
const DOT = /[\u00b7\u2219\u22c5]/g;
const DIGIT = /\p{Nd}/u;
const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/**
 * A text in Unicode's compatibility form (NFKC), without invisible characters, with digits, dashes and dots of ASCII, and
 * with the characters that the JSON escapes `\uXXXX` and `\/` represent.
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
  /** By unit of the readable text: where its original starts, and ends. */
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

/** Unicode's decimal digits come in runs of ten, from 0 to 9. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}
