import type { ContentFilter } from './content.filter.js';
import { openIban } from './identity.parser.js';
import { startsAsJson } from './json-text.mapper.js';
import { readableText, type ReadableText } from './readable-text.mapper.js';
import { openPrivateKey, WORD_CHARACTER } from './secret.parser.js';

const WORD = new RegExp(WORD_CHARACTER);
/** An incomplete surrogate pair or JSON escape at the end. */
const UNFINISHED = /(?:[\ud800-\udbff]|(?<!\\)\\+(?:u[0-9a-fA-F]{0,3})?)$/;
/** An incomplete first line of a private key; dashes alone are covered by the word rule. */
const KEY_LINE = /-----(?:B|BE|BEG|BEGI|BEGIN|BEGIN [A-Z0-9 ]{0,80}-{0,4})$/;
const KEY_LINE_LENGTH = 100;
/** In UTF-16 units: a text up to this length is scanned again with every piece. */
const SHORT = 256;

/**
 * Masks a text that arrives in pieces. The released pieces together equal the masked whole; no part of a finding is
 * released unmasked. Text is released up to the point from which a finding can still continue. Held back are a word,
 * digits with separators, the groups of an IBAN and a private key. For an own pattern, as many characters as it can
 * match are held back. Everything is held back if a rule blocks, a pattern has no bound, or the text is JSON.
 */
export class FilteredStream {
  private held = '';
  private isReleased = false;
  /** Minimum length for the next scan. A long text without a release is scanned again only at twice its length. */
  private tryAt = 0;

  constructor(private readonly filter: ContentFilter) {}

  /** @returns the text that can be released now */
  push(piece: string): string {
    this.held += piece;
    if (this.filter.isBlocking || this.filter.reach === Infinity || this.held.length < this.tryAt) return '';
    if (!this.isReleased && startsAsJson(this.held) !== false) return '';
    const at = safePlace(this.filter, this.held.replace(UNFINISHED, ''));
    this.tryAt = at === 0 && this.held.length > SHORT ? this.held.length * 2 : 0;
    return this.release(at);
  }

  /** @returns the rest, or an empty text if it is blocked */
  end(): string {
    return this.release(this.held.length);
  }

  private release(at: number): string {
    const text = this.held.slice(0, at);
    this.held = this.held.slice(at);
    const isWhole = !this.isReleased && this.held === '';
    const filtered = isWhole ? this.filter.text(text) : this.filter.plain(text);
    this.isReleased ||= at > 0;
    switch (filtered.kind) {
      case 'clean':
        return text;
      case 'masked':
        return filtered.value;
      case 'blocked':
        return '';
    }
  }
}

/** Index from which the text must be held back. */
function safePlace(filter: ContentFilter, held: string): number {
  const readable = readableText(held);
  const { text } = readable;
  const open = [
    openPrivateKey(text),
    openKeyLine(text),
    openDigits(text, text.length),
    openIban(text),
    openOwn(filter, readable, held),
  ];
  const place = startOfPart(readable, held, Math.min(...open.filter((at) => at >= 0)));
  return filter
    .spans(held)
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (at, { start, end }) => (start < at && at < end ? startOfPart(readable, held, readable.toReadable(start)) : at),
      place,
    );
}

function openKeyLine(text: string): number {
  const from = Math.max(0, text.length - KEY_LINE_LENGTH);
  const at = text.slice(from).search(KEY_LINE);
  return at < 0 ? -1 : from + at;
}

/** Start of the digits with separators that end at the index; the last one may be the check character X. */
function openDigits(text: string, end: number): number {
  let at = /[Xx]/.test(text[end - 1] ?? '') ? end - 1 : end;
  let hasDigit = false;
  for (; at > 0 && /[0-9 .-]/.test(text[at - 1]!); at--) hasDigit ||= /\d/.test(text[at - 1]!);
  return hasDigit ? at : end;
}

/** Start of the last characters that an own pattern can still match, in the text or in its readable form. */
function openOwn({ reach }: ContentFilter, readable: ReadableText, held: string): number {
  const { text } = readable;
  // One more, for a word boundary after the match.
  return reach === 0 ? text.length : Math.min(before(text, reach + 1), readable.toReadable(before(held, reach + 1)));
}

/** Start of the last characters (code points) of a text. */
function before(text: string, count: number): number {
  let at = text.length;
  for (let n = 0; n < count && at > 0; n++) at -= /[\udc00-\udfff]/.test(text[at - 1]!) ? 2 : 1;
  return Math.max(0, at);
}

/** Start, in the original text, of the word or digits that end or continue at a readable index. */
function startOfPart(readable: ReadableText, held: string, end: number): number {
  const { text } = readable;
  let at = end;
  while (at > 0 && WORD.test(text[at - 1]!)) at--;
  if (at === text.length) return held.length;
  const original = readable.toOriginal({ start: at, end: at + 1 }).start;
  // One original character may map to several readable ones.
  const first = Math.min(readable.toReadable(original), /[\dXx]/.test(text[at]!) ? openDigits(text, at) : at);
  return first === at ? original : startOfPart(readable, held, first);
}
