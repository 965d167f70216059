import { AppError } from '../errors/index.js';

export interface TextInput {
  readonly text: string;
  readonly search?: string;
  readonly replacement?: string;
  readonly separator?: string;
  readonly parts?: readonly string[];
  readonly start?: number;
  readonly end?: number;
  readonly count?: number;
}

type TextResult = string | number | boolean | string[];

interface TextOperation {
  /** Required arguments beside the text. */
  readonly needs: readonly (keyof TextInput)[];
  readonly apply: (input: TextInput) => TextResult;
}

/** Maximum result of `repeat`, in UTF-16 units; its call is short. */
const MAX_REPEATED = 10_000;
const MAX_RESULT = 100_000;

/** Created on first use (10 ms). */
const segmenters = new Map<'grapheme' | 'word', Intl.Segmenter>();
const ASCII = /^[\0-\x7f]*$/;

/** Operations of `string_tools` by name. A character is a grapheme. */
export const TEXT_OPERATIONS: ReadonlyMap<string, TextOperation> = new Map(
  Object.entries<TextOperation>({
    upper: { needs: [], apply: ({ text }) => text.toUpperCase() },
    lower: { needs: [], apply: ({ text }) => text.toLowerCase() },
    title: { needs: [], apply: ({ text }) => toTitle(text) },
    reverse: { needs: [], apply: ({ text }) => charactersOf(text).toReversed().join('') },
    length: { needs: [], apply: ({ text }) => charactersOf(text).length },
    trim: { needs: [], apply: ({ text }) => text.trim() },
    count_words: {
      needs: [],
      apply: ({ text }) => [...segmentsOf(text, 'word')].filter(({ isWordLike }) => isWordLike).length,
    },
    replace: { needs: ['search', 'replacement'], apply: replace },
    contains: {
      needs: ['search'],
      apply: ({ text, search = '' }) => search === '' || partsBetween(text, search).length > 1,
    },
    split: {
      needs: ['separator'],
      apply: ({ text, separator = '' }) => (separator === '' ? charactersOf(text) : partsBetween(text, separator)),
    },
    join: { needs: ['parts'], apply: join },
    slice: { needs: ['start'], apply: ({ text, start, end }) => charactersOf(text).slice(start, end).join('') },
    repeat: { needs: ['count'], apply: repeat },
  }),
);

function segmentsOf(text: string, granularity: 'grapheme' | 'word'): Intl.Segments {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter('en', { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter.segment(text);
}

function charactersOf(text: string): string[] {
  return Array.from(segmentsOf(text, 'grapheme'), ({ segment }) => segment);
}

function toTitle(text: string): string {
  return Array.from(segmentsOf(text, 'word'), ({ segment }) => {
    const first = segmentsOf(segment, 'grapheme').containing(0)?.segment ?? '';
    return first.toUpperCase() + segment.slice(first.length).toLowerCase();
  }).join('');
}

/** The parts between matches of `search` at grapheme boundaries: `👨` does not match in `👨‍👩‍👧`, nor `e` in `é`. */
function partsBetween(text: string, search: string): string[] {
  if (ASCII.test(text)) return text.split(search);
  const places = placesOf(text);
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(search), next = 0; at >= 0; at = text.indexOf(search, next)) {
    next = at + search.length;
    if (places.has(at) && places.has(next)) {
      parts.push(text.slice(from, at));
      from = next;
    } else for (next = at + 1; !places.has(next);) next++;
  }
  return [...parts, text.slice(from)];
}

/** Grapheme boundaries; CRLF counts as two characters, so that either can be found. */
function placesOf(text: string): ReadonlySet<number> {
  const places = new Set([0]);
  let at = 0;
  for (const character of charactersOf(text)) {
    if (character === '\r\n') places.add(at + 1);
    places.add((at += character.length));
  }
  return places;
}

function replace({ text, search = '', replacement = '' }: TextInput): string {
  if (search === '') throw new AppError('TOOL_FAILED', 'The "search" of replace is empty: give the text to look for.');
  return joined(partsBetween(text, search), replacement);
}

/** Without a separator the text itself is the separator. */
function join({ text, separator = text, parts = [] }: TextInput): string {
  return joined(parts, separator);
}

function joined(parts: readonly string[], separator: string): string {
  const length = parts.reduce((sum, part) => sum + part.length, separator.length * Math.max(parts.length - 1, 0));
  refuseLength(length, MAX_RESULT);
  return parts.join(separator);
}

function repeat({ text, count = 0 }: TextInput): string {
  refuseLength(text.length * count, MAX_REPEATED);
  return text.repeat(count);
}

function refuseLength(length: number, limit: number): void {
  if (length <= limit) return;
  throw new AppError('TOOL_FAILED', `The result would have ${length} characters; ${limit} are allowed.`);
}
