import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/** A run of digits with at most one separator between two of them; card numbers are inside such runs. */
const DIGITS = /(?<!\d)\d(?:[ .-]?\d){12,}/g;
const SHORTEST = 13;
const UP_TO_LONGEST = [16, 17, 18, 19];
/** Groups separated by dots; a decimal has one dot. */
const DOTTED = /^\d{3,7}(?:\.\d{3,7}){2,5}$/;

/** Ranges of the first four digits, and lengths, by scheme (ISO/IEC 7812, and publications of the schemes). */
const SCHEMES: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [2221, 2720, [16]],
  [3000, 3059, [14, ...UP_TO_LONGEST]],
  [3400, 3499, [15]],
  [3528, 3589, UP_TO_LONGEST],
  [3600, 3699, [14, ...UP_TO_LONGEST]],
  [3700, 3799, [15]],
  [3800, 3999, [14, ...UP_TO_LONGEST]],
  [4000, 4999, [13, 16, 19]],
  [5000, 5099, UP_TO_LONGEST],
  [5100, 5599, [16]],
  [5600, 5999, UP_TO_LONGEST],
  [6011, 6011, UP_TO_LONGEST],
  [6200, 6399, UP_TO_LONGEST],
  [6440, 6599, UP_TO_LONGEST],
  [6700, 6799, UP_TO_LONGEST],
];

/** Finds card numbers: a scheme's prefix and length, a valid check digit (Luhn), also in groups. */
export function findCards(text: string): Span[] {
  return spansOf(text, DIGITS).flatMap((run) => cardsIn(text, run));
}

/** A card number starts and ends with a group. */
function cardsIn(text: string, { start, end }: Span): Span[] {
  const places = digitPlaces(text, start, end);
  const digits = Uint8Array.from(places, (at) => text.charCodeAt(at) - 48);
  const spans: Span[] = [];
  for (let first = 0; first + SHORTEST <= digits.length;) {
    const begins = first === 0 || startsGroup(text, places[first]!);
    const length = begins ? lengthOf(text, digits, places, first) : undefined;
    if (length !== undefined) spans.push({ start: places[first]!, end: places[first + length - 1]! + 1 });
    first += length ?? 1;
  }
  return spans;
}

function digitPlaces(text: string, start: number, end: number): number[] {
  const places: number[] = [];
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) places.push(at);
  }
  return places;
}

/** Length of the card number at a position; the longest of several. */
function lengthOf(text: string, digits: Uint8Array, places: readonly number[], first: number): number | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = digits.subarray(first, first + 4);
  const prefix = a * 1000 + b * 100 + c * 10 + d;
  const lengths = SCHEMES.find(([from, to]) => prefix >= from && prefix <= to)?.[2];
  return lengths?.findLast((length) => {
    const last = first + length - 1;
    const ends = last < digits.length && places[last + 1] !== places[last]! + 1;
    return ends && isLuhnValid(digits, first, last) && isSeparated(text.slice(places[first], places[last]! + 1));
  });
}

/** Digits after a point are a fraction, or a group of an earlier number. */
function startsGroup(text: string, at: number): boolean {
  return text[at - 1] === ' ' || text[at - 1] === '-';
}

/**
 * Excludes versions, addresses and decimals: dots count only if they separate all groups and these have a plausible
 * length.
 */
function isSeparated(number: string): boolean {
  return !number.includes('.') || DOTTED.test(number);
}

/** Luhn check: the weighted digit sum is a multiple of ten (ISO/IEC 7812-1, annex B). */
function isLuhnValid(digits: Uint8Array, first: number, last: number): boolean {
  let sum = 0;
  for (let at = last, isDoubled = false; at >= first; at--, isDoubled = !isDoubled) {
    const weighted = isDoubled ? digits[at]! * 2 : digits[at]!;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}
