import { ExactInteger, type JsonValue } from '../../common/index.js';
import { findCards } from './card.parser.js';
import { CONTENT_CLASSES, type ContentClass, type Finder, type Span } from './content.types.js';
import { findEmails } from './email.parser.js';
import { findIdentities } from './identity.parser.js';
import { isJsonText, KeyNames, mapJsonText } from './json-text.mapper.js';
import { readableText, type ReadableText } from './readable-text.mapper.js';
import { findSecrets } from './secret.parser.js';

const FINDERS: Readonly<Record<ContentClass, Finder>> = {
  secrets: findSecrets,
  cards: findCards,
  ids: findIdentities,
  emails: findEmails,
};

/** A kind of content, its finder, and the action on a finding. */
export interface ContentRule {
  /** A class, or the name of an own pattern. */
  readonly name: string;
  readonly find: Finder;
  readonly action: 'mask' | 'block';
}

/** A filtered text or value. `names` are the kinds that were found, never their content. */
export type Filtered<T> =
  | { readonly kind: 'clean' }
  | { readonly kind: 'masked'; readonly value: T; readonly names: readonly string[] }
  | { readonly kind: 'blocked'; readonly names: readonly string[] };

interface Found extends Span {
  readonly name: string;
}

/** Writes JSON in place of a masked number. @param mask the number as text, masked */
type NumberMask = (mask: string) => string;

const CLEAN = { kind: 'clean' } as const;
/** JSON inside strings of JSON is decoded so often; deeper inside, it is filtered as plain text. */
const MAX_NESTED = 8;
const LARGEST_PLAIN = 1e21;

/**
 * Finds content of some kinds in one place and masks or blocks it. Values are filtered, not their spelling: strings,
 * keys and numbers of JSON are decoded first. The filter never stores or reports a finding's content.
 */
export class ContentFilter {
  /** Whether a finding blocks the whole text, so that no part may be released before the text has ended. */
  readonly isBlocking: boolean;

  /** The most characters that an own pattern of the filter matches; Infinity for a pattern without a bound. */
  readonly reach: number;

  constructor(readonly rules: readonly ContentRule[]) {
    this.isBlocking = rules.some(({ action }) => action === 'block');
    const own = rules.filter(isOwn).map(({ find }) => find.reach ?? Infinity);
    this.reach = Math.max(0, ...own);
  }

  /** Filters a text; one that is a JSON object or array by its values, so that it stays JSON. */
  text(text: string): Filtered<string> {
    return this.screened((screening) => screening.text(text));
  }

  /** Filters a text as its characters stand, also if it looks like JSON. */
  plain(text: string): Filtered<string> {
    return this.screened((screening) => screening.plain(text));
  }

  /**
   * Filters a text that is valid JSON by its values.
   * @param mask writes JSON in place of a masked number; by default a string
   */
  jsonText(text: string, mask: NumberMask = JSON.stringify): Filtered<string> {
    return this.screened((screening) => screening.jsonText(text, mask));
  }

  /** Filters the strings, object keys and numbers of a JSON value. A masked number becomes a string. */
  json(value: JsonValue): Filtered<JsonValue> {
    try {
      return this.screened((screening) => screening.value(value));
    } catch (error) {
      // A structure that cannot be filtered is blocked.
      if (error instanceof RangeError) return { kind: 'blocked', names: ['too deep a structure'] };
      throw error;
    }
  }

  /** The spans of all findings, in the order of the rules. */
  spans(text: string): Span[] {
    const readable = readableText(text);
    return this.rules.flatMap((rule) => spansIn(text, readable, rule));
  }

  private screened<T extends JsonValue>(action: (screening: Screening) => T): Filtered<T> {
    const screening = new Screening(this.rules);
    const value = action(screening);
    if (screening.blocked.size > 0) return { kind: 'blocked', names: [...screening.blocked] };
    return screening.masked.size === 0 ? CLEAN : { kind: 'masked', value, names: [...screening.masked] };
  }
}

/** One pass over a text or a value; collects the names of all that is found. */
class Screening {
  readonly masked = new Set<string>();
  readonly blocked = new Set<string>();

  constructor(private readonly rules: readonly ContentRule[]) {}

  text(text: string, depth = 0): string {
    return depth < MAX_NESTED && isJsonText(text) ? this.jsonText(text, JSON.stringify, depth + 1) : this.plain(text);
  }

  plain(text: string): string {
    const found: Found[] = [];
    const readable = readableText(text);
    for (const rule of this.rules) {
      const { name, action } = rule;
      const spans = spansIn(text, readable, rule);
      if (action === 'block' && spans.length > 0) this.blocked.add(name);
      else found.push(...spans.map((span) => ({ ...span, name })));
    }
    if (found.length === 0) return text;
    for (const name of namesIn(found)) this.masked.add(name);
    return masked(text, found);
  }

  jsonText(text: string, mask: NumberMask, depth = 1): string {
    return mapJsonText(text, {
      text: (value) => this.text(value, depth),
      number: (source) => {
        const shown = this.number(source);
        return shown === source ? source : mask(shown);
      },
    });
  }

  /** The same value where nothing in it changes. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number' || value instanceof ExactInteger) {
      const source = String(value);
      const shown = this.number(source);
      return shown === source ? value : shown;
    }
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (value === null || typeof value !== 'object') return value;
    const keys = new KeyNames();
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [keys.name(key, this.text(key)), this.value(one)]),
    );
  }

  /** A number is shown to the rules as it is written and with all its digits: `4e3` also as `4000`. */
  private number(source: string): string {
    const shown = this.plain(source);
    if (shown !== source) return shown;
    const digits = digitsOf(source);
    const mapped = digits === source ? digits : this.plain(digits);
    return mapped === digits ? source : mapped;
  }
}

function digitsOf(source: string): string {
  if (!/[.eE]/.test(source)) return source;
  const number = Number(source);
  return Number.isInteger(number) && Math.abs(number) >= LARGEST_PLAIN ? String(BigInt(number)) : String(number);
}

/** The rule for a class. */
export function classRule(name: ContentClass, action: ContentRule['action']): ContentRule {
  return { name, find: FINDERS[name], action };
}

/** An own pattern is also matched against the text itself: it may have characters that the readable form does not have. */
function spansIn(text: string, readable: ReadableText, rule: ContentRule): Span[] {
  const spans = rule.find(readable.text).map((span) => readable.toOriginal(span));
  return isOwn(rule) && readable.text !== text ? [...spans, ...rule.find(text)] : spans;
}

function isOwn({ name, find }: ContentRule): boolean {
  return find !== FINDERS[name as ContentClass];
}

function namesIn(found: readonly Found[]): string[] {
  const order = [...CONTENT_CLASSES] as readonly string[];
  return [...new Set(found.map(({ name }) => name))].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** Findings that overlap become one mark, under the name of the first, by the order of the rules where they begin together. */
function masked(text: string, found: readonly Found[]): string {
  const inOrder = found.toSorted((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, name } of inOrder) {
    if (start >= at) pieces.push(text.slice(at, start), `[${name}]`);
    at = Math.max(at, end);
  }
  return pieces.join('') + text.slice(at);
}
