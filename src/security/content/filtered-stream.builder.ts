import type { ContentFilter } from './content.filter.js';
import type { Span } from './content.types.js';
import { startsAsJson } from './json-text.mapper.js';
import { openPrivateKey } from './secret.parser.js';

/** How far back a private key's first line may have begun. */
const BEGIN_LENGTH = 120;

/**
 * Masks a text that comes in pieces: what it lets through adds up to the masked whole, and nothing that a mask stands
 * for was let through before. What may still become a finding is held back: the last word, groups of digits, a private
 * key; all of it where something is blocked, or where patterns of one's own are looked for.
 */
export class FilteredStream {
  private held = '';
  private isFirst = true;
  /** A text that could not be parted is not looked at again before it has doubled. */
  private tryAt = 0;

  constructor(private readonly filter: ContentFilter) {}

  /** @returns what may be shown now */
  push(piece: string): string {
    this.held += piece;
    if (this.filter.isBlocking || !this.filter.isPiecewise || this.held.length < this.tryAt) return '';
    // JSON is filtered as a whole.
    if (this.isFirst && startsAsJson(this.held) !== false) return '';
    const at = safePlace(this.held, this.filter.spans(this.held));
    this.tryAt = at === 0 ? this.held.length * 2 : 0;
    return this.release(at);
  }

  /** @returns the rest; nothing of a text that is blocked */
  end(): string {
    return this.release(this.held.length);
  }

  private release(at: number): string {
    const text = this.held.slice(0, at);
    this.held = this.held.slice(at);
    const filtered = this.isFirst && this.held === '' ? this.filter.text(text) : this.filter.plain(text);
    this.isFirst &&= at === 0;
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

/** Up to where nothing that follows can make a finding of what stands before; always behind white space. */
function safePlace(text: string, found: readonly Span[]): number {
  const begun = openPrivateKey(text);
  const dashes = text.indexOf('-----', Math.max(0, text.length - BEGIN_LENGTH));
  const places = [groupsBefore(text, lastWord(text, text.length)), begun, dashes].filter((at) => at >= 0);
  const place = Math.min(...places.map((at) => lastWord(text, at)));
  // Some findings hold white space.
  const fromLast = found.toSorted((a, b) => b.start - a.start);
  return fromLast.reduce((at, { start, end }) => (start < at && at < end ? lastWord(text, start) : at), place);
}

/** Where the groups of digits and capitals begin that end there: a card number or an IBAN may have begun in them. */
function groupsBefore(text: string, end: number): number {
  let at = end;
  let hasDigit = false;
  for (; at > 0 && /[0-9A-Z -]/.test(text[at - 1]!); at--) hasDigit ||= /\d/.test(text[at - 1]!);
  return hasDigit ? at : end;
}

/** Where the word begins that ends at `end`, or goes on there. */
function lastWord(text: string, end: number): number {
  let at = end;
  while (at > 0 && !/\s/.test(text[at - 1]!)) at--;
  return at;
}
