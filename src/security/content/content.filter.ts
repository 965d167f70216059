import { AppError } from '../../errors/index.js';
import { ExactInteger, type JsonValue } from '../../kernel/json/index.js';
import { findCards } from './card.parser.js';
import { CONTENT_CLASSES, type ContentClass, type Finder, type Span } from './content.types.js';
import { findIdentities } from './identity.parser.js';
import { isJsonText, KeyNames, mapJsonText } from './json-text.mapper.js';
import { spansOf } from './pattern-span.mapper.js';
import { readableText, type ReadableText } from './readable-text.mapper.js';
import { findSecrets } from './secret.parser.js';

/**
 * The look-behind makes the scan linear: each run of characters is scanned once. A local part has at most 64 characters
 * (RFC 5321, 4.5.3.1.1).
 */
const EMAIL = /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}/g;

/** Finds e-mail addresses in common form; not quoted local parts, nor names in other scripts. */
function findEmails(text: string): Span[] {
  return text.includes('@') ? spansOf(text, EMAIL) : [];
}

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

/** A filtered text or value. `names` are the kinds of the findings, never their content. */
export type Filtered<T> =
  | { readonly kind: 'clean' }
  | { readonly kind: 'masked'; readonly value: T; readonly names: readonly string[] }
  | { readonly kind: 'blocked'; readonly names: readonly string[] };

interface Found extends Span {
  readonly name: string;
}

/** Writes the JSON that replaces a masked number. @param mask the masked number as text */
type NumberMask = (mask: string) => string;

const CLEAN = { kind: 'clean' } as const;
/** Maximum decoding depth of JSON inside JSON strings; deeper levels are filtered as plain text. */
const MAX_NESTED = 8;
const LARGEST_PLAIN = 1e21;

/**
 * Finds content of given kinds and masks or blocks it. Filters values, not their spelling: strings, keys and numbers of
 * JSON are decoded first. The filter never stores or reports the content of a finding.
 */
export class ContentFilter {
  /** Whether a finding blocks the whole text, so that no part may be released before its end. */
  readonly isBlocking: boolean;

  /** Maximum match length of the own patterns, in code points; Infinity for a pattern without a bound. */
  readonly reach: number;

  constructor(readonly rules: readonly ContentRule[]) {
    this.isBlocking = rules.some(({ action }) => action === 'block');
    const own = rules.filter(isOwn).map(({ find }) => find.reach ?? Infinity);
    this.reach = Math.max(0, ...own);
  }

  /** Filters a text. A JSON object or array is filtered by its values and stays JSON. */
  text(text: string): Filtered<string> {
    return this.screened((screening) => screening.text(text));
  }

  /** Filters a text by its characters, also if it looks like JSON. */
  plain(text: string): Filtered<string> {
    return this.screened((screening) => screening.plain(text));
  }

  /**
   * Filters a valid JSON text by its values.
   * @param mask writes the JSON that replaces a masked number; default: a string
   */
  jsonText(text: string, mask: NumberMask = JSON.stringify): Filtered<string> {
    return this.screened((screening) => screening.jsonText(text, mask));
  }

  /** Filters the strings, object keys and numbers of a JSON value. A masked number becomes a string. */
  json(value: JsonValue): Filtered<JsonValue> {
    try {
      return this.screened((screening) => screening.value(value));
    } catch (error) {
      // Blocks a structure that is too deep to filter.
      if (error instanceof RangeError) return { kind: 'blocked', names: ['too deep a structure'] };
      throw error;
    }
  }

  /** Spans of all findings, in order of the rules. */
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

/** One pass over a text or a value; collects the names of all findings. */
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

  /** Returns an equal value if nothing changes. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value === 'number' || value instanceof ExactInteger) {
      const source = String(value);
      const shown = this.number(source);
      return shown === source ? value : shown;
    }
    if (value === null || typeof value !== 'object') return value;
    const keys = new KeyNames();
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [keys.name(key, this.text(key)), this.value(one)]),
    );
  }

  /** Applies the rules to the number as written and to all its digits: `4e3` also as `4000`. */
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

/** Creates the rule of a class. */
export function classRule(name: ContentClass, action: ContentRule['action']): ContentRule {
  return { name, find: FINDERS[name], action };
}

/** An own pattern is also matched against the original text, which may have characters that the readable form lacks. */
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

/**
 * Replaces findings by marks. Overlapping findings become one mark, with the name of the first; the order of the rules
 * decides between findings with the same start.
 */
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

/** User input in the form that may be stored and shown to a model. */
export interface Admitted<T extends JsonValue> {
  readonly value: T;
  /** Kinds of the masked content, if any. */
  readonly masked?: readonly string[];
}

/**
 * Admits user input, masked according to the filter.
 * @param what name of the input in the error: `query`
 * @throws AppError `INPUT_BLOCKED` naming the kinds of the findings, never their content
 */
export function admit<T extends JsonValue>(filter: ContentFilter | null, content: T, what: string): Admitted<T> {
  const filtered = filter?.json(content) ?? { kind: 'clean' };
  switch (filtered.kind) {
    case 'clean':
      return { value: content };
    case 'masked':
      // A mask changes strings only.
      return { value: filtered.value as T, masked: filtered.names };
    case 'blocked': {
      const message = `The ${what} was not taken: it holds ${filtered.names.join(', ')}. Leave that out and send it again.`;
      throw new AppError('INPUT_BLOCKED', message, { details: { found: filtered.names } });
    }
  }
}
