import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/** GB 11643-1999: region, date of birth, order, check character; at most one separator between two of them. */
const RESIDENT_PARTS = [
  '[1-8]#5',
  '(?:1#[89]|2#[0])#2',
  '(?:0#[1-9]|1#[0-2])',
  '(?:0#[1-9]|[12]#1|3#[01])#3',
  '[0-9Xx]',
];
const RESIDENT_ID = new RegExp(`(?<![0-9A-Za-z])${spaced(RESIDENT_PARTS)}(?![0-9A-Za-z])`, 'g');
const RESIDENT_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const RESIDENT_CHECKS = '10X98765432';

/**
 * Three groups with the same separator. Excludes numbers that are never issued: area 000, 666 and 9xx, group 00, serial
 * 0000 (SSA).
 */
const SSN = new RegExp(['-', ' ', String.raw`\.`].map(ssnWith).join('|'), 'g');

const IBAN_START = /(?<![0-9A-Za-z])[A-Za-z]{2}\d{2}(?=[ .-]?[0-9A-Za-z])/g;
const IBAN_PREFIX = /(?<![0-9A-Za-z])[A-Za-z]{2}\d{2}/g;
/** Maximum length with separators. */
const LONGEST_IBAN = 64;
const SEPARATORS = new Set([' ', '.', '-']);
/** Printed form of an IBAN; groups of a lower-case text are words of other lengths. */
const IN_FOURS = /^(?:[0-9A-Za-z]{4}[ .-])*[0-9A-Za-z]{1,4}$/;
/** Length of an IBAN by country (SWIFT's IBAN registry). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = lengths(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
);

/** Finds Chinese resident identity numbers and IBANs with valid checksums, and US social security numbers. */
export function findIdentities(text: string): Span[] {
  return [...residentIds(text), ...spansOf(text, SSN), ...ibans(text)];
}

/** Excludes matches inside a longer number with the same separator. */
function ssnWith(separator: string): string {
  const before = String.raw`(?<!\d|\d${separator})(?!000|666|9)\d{3}`;
  return String.raw`${before}${separator}(?!00)\d{2}${separator}(?!0000)\d{4}(?!\d|${separator}\d)`;
}

/** Expands a pattern: `#3` is three digits with separators, `#` a separator. */
function spaced(parts: readonly string[]): string {
  const separator = '[ .-]?';
  return parts
    .join('#')
    .replaceAll(/#(\d)/g, (_found, count: string) => String.raw`(?:${separator}\d){${count}}`)
    .replaceAll('#', separator);
}

function residentIds(text: string): Span[] {
  const spans: Span[] = [];
  RESIDENT_ID.lastIndex = 0;
  for (let found = RESIDENT_ID.exec(text); found; found = RESIDENT_ID.exec(text)) {
    const start = found.index;
    if (isResidentId(found[0].replaceAll(/[ .-]/g, ''))) spans.push({ start, end: RESIDENT_ID.lastIndex });
    // An invalid number may contain the start of another one.
    else RESIDENT_ID.lastIndex = start + 1;
  }
  return spans;
}

/** Checksum of ISO 7064, MOD 11-2. */
function isResidentId(id: string): boolean {
  const sum = RESIDENT_WEIGHTS.reduce((total, weight, at) => total + weight * Number(id[at]), 0);
  return RESIDENT_CHECKS[sum % 11] === id[17]!.toUpperCase();
}

function ibans(text: string): Span[] {
  return spansOf(text, IBAN_START).flatMap(({ start }) => ibanAt(text, start) ?? []);
}

function ibanAt(text: string, start: number): Span | null {
  const { end, found, isWhole } = ibanFrom(text, start);
  if (!isWhole || /^[0-9A-Za-z]/.test(text.slice(end, end + 1)) || !isIban(found.toUpperCase())) return null;
  const written = text.slice(start, end);
  return written === written.toUpperCase() || written.length === found.length || IN_FOURS.test(written)
    ? { start, end }
    : null;
}

/** Characters of an IBAN from its start, up to its country's length; `isWhole` if complete. */
function ibanFrom(text: string, start: number): { end: number; found: string; isWhole: boolean } {
  const length = IBAN_LENGTHS[text.slice(start, start + 2).toUpperCase()] ?? 0;
  let found = '';
  let end = start;
  for (; found.length < length && end < text.length; end++) {
    const character = text[end]!;
    if (/^[0-9A-Za-z]$/.test(character)) found += character;
    else if (!SEPARATORS.has(character) || SEPARATORS.has(text[end - 1]!)) break;
  }
  return { end, found, isWhole: length > 0 && found.length === length };
}

/** Start of an IBAN that may continue after the text; by default the length of the text. */
export function openIban(text: string): number {
  const from = Math.max(0, text.length - LONGEST_IBAN);
  const starts = spansOf(text.slice(from), IBAN_PREFIX).map(({ start }) => from + start);
  return starts.find((start) => ibanFrom(text, start).end === text.length) ?? text.length;
}

/** ISO 13616: country and check digits are moved to the end, letters are numbers from 10, modulo 97 is 1. */
function isIban(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

function lengths(table: string): Record<string, number> {
  return Object.fromEntries(table.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]));
}
