import { ExactInteger, type JsonValue } from '../../common/index.js';
import { findCards } from './card.parser.js';
import { CONTENT_CLASSES, type ContentClass, type Finder, type Span } from './content.types.js';
import { findEmails } from './email.parser.js';
import { findIdentities } from './identity.parser.js';
import { findSecrets } from './secret.parser.js';

const FINDERS: Readonly<Record<ContentClass, Finder>> = {
  secrets: findSecrets,
  cards: findCards,
  ids: findIdentities,
  emails: findEmails,
};

/** A kind of content, how it is found, and what becomes of it. */
export interface ContentRule {
  /** A class, or the name of an own pattern. */
  readonly name: string;
  readonly find: Finder;
  readonly action: 'mask' | 'block';
}

/** What came of a text: `names` are those of the kinds that were found, never what was found. */
export type Filtered<T> =
  | { readonly kind: 'clean' }
  | { readonly kind: 'masked'; readonly value: T; readonly names: readonly string[] }
  | { readonly kind: 'blocked'; readonly names: readonly string[] };

interface Found extends Span {
  readonly name: string;
}

const CLEAN = { kind: 'clean' } as const;
/** Shorter numbers are none of anything. */
const LEAST_NUMBER = 1e12;

/** Looks for content of some kinds in one place, and masks it or stops it. It keeps and tells nothing of what it finds. */
export class ContentFilter {
  /** Whether something is stopped whole, so that nothing of a text may go on before its end is known. */
  readonly isBlocking: boolean;

  constructor(
    readonly rules: readonly ContentRule[],
    /** Whether a text can be masked in pieces: the ends of own patterns are not known before the text's. */
    readonly isPiecewise: boolean,
  ) {
    this.isBlocking = rules.some(({ action }) => action === 'block');
  }

  text(text: string): Filtered<string> {
    const found: Found[] = [];
    const blocked = new Set<string>();
    for (const { name, find, action } of this.rules) {
      const spans = find(text);
      if (action === 'block' && spans.length > 0) blocked.add(name);
      else found.push(...spans.map((span) => ({ ...span, name })));
    }
    if (blocked.size > 0) return { kind: 'blocked', names: [...blocked] };
    if (found.length === 0) return CLEAN;
    return { kind: 'masked', value: masked(text, found), names: namesIn(found) };
  }

  /** Where anything is found, in the order of the rules. */
  spans(text: string): Span[] {
    return this.rules.flatMap(({ find }) => find(text));
  }

  /** The same for every text in a JSON value, object keys and long numbers too. */
  json(value: JsonValue): Filtered<JsonValue> {
    const names = new Set<string>();
    const blocked = new Set<string>();
    const screen = (text: string): string => {
      const filtered = this.text(text);
      if (filtered.kind === 'clean') return text;
      for (const name of filtered.names) (filtered.kind === 'blocked' ? blocked : names).add(name);
      return filtered.kind === 'blocked' ? '' : filtered.value;
    };
    let result: JsonValue;
    try {
      result = mapTexts(value, screen);
    } catch (error) {
      // What cannot be looked through does not go on.
      if (error instanceof RangeError) return { kind: 'blocked', names: ['too deep a structure'] };
      throw error;
    }
    if (blocked.size > 0) return { kind: 'blocked', names: [...blocked] };
    return names.size === 0 ? CLEAN : { kind: 'masked', value: result, names: [...names] };
  }
}

/** The rule for a class. */
export function classRule(name: ContentClass, action: ContentRule['action']): ContentRule {
  return { name, find: FINDERS[name], action };
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

/** The same value when no text in it changes. */
function mapTexts(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === 'string') return map(value);
  if (typeof value === 'number') return Math.abs(value) >= LEAST_NUMBER ? asNumber(value, map) : value;
  if (value instanceof ExactInteger) return asNumber(value, map);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, map));
  if (value === null || typeof value !== 'object') return value;
  const entries = new Map<string, JsonValue>();
  for (const [key, one] of Object.entries(value)) entries.set(freeKey(entries, map(key)), mapTexts(one, map));
  return Object.fromEntries(entries);
}

function asNumber(value: number | ExactInteger, map: (text: string) => string): JsonValue {
  const text = String(value);
  const mapped = map(text);
  return mapped === text ? value : mapped;
}

/** Two keys with the same mask are still two. */
function freeKey(taken: ReadonlyMap<string, unknown>, key: string): string {
  if (!taken.has(key)) return key;
  for (let n = 2; ; n++) if (!taken.has(`${key} ${n}`)) return `${key} ${n}`;
}
