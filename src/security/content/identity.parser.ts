import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/** GB 11643-1999: region, date of birth, order, check character. */
const RESIDENT_ID =
  /(?<![0-9A-Za-z])[1-8]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![0-9A-Za-z])/g;
const RESIDENT_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const RESIDENT_CHECKS = '10X98765432';

/** With its hyphens, and none that is never given out: area 000, 666 and 9xx, group 00, serial 0000 (SSA). */
const SSN = /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g;

const IBAN_START = /(?<![0-9A-Z])[A-Z]{2}\d{2}(?= ?[0-9A-Z])/g;
/** Characters of an IBAN by country (SWIFT's IBAN registry). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = lengths(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
);

/** Finds Chinese resident identity numbers and IBANs whose checksums are right, and US social security numbers. */
export function findIdentities(text: string): Span[] {
  const residents = spansOf(text, RESIDENT_ID).filter(({ start, end }) => isResidentId(text.slice(start, end)));
  return [...residents, ...spansOf(text, SSN), ...ibans(text)];
}

/** ISO 7064, MOD 11-2. */
function isResidentId(id: string): boolean {
  const sum = RESIDENT_WEIGHTS.reduce((total, weight, at) => total + weight * Number(id[at]), 0);
  return RESIDENT_CHECKS[sum % 11] === id[17]!.toUpperCase();
}

function ibans(text: string): Span[] {
  return spansOf(text, IBAN_START).flatMap(({ start }) => ibanAt(text, start) ?? []);
}

function ibanAt(text: string, start: number): Span | null {
  const length = IBAN_LENGTHS[text.slice(start, start + 2)];
  if (length === undefined) return null;
  let found = '';
  let at = start;
  for (; found.length < length; at++) {
    const character = text[at] ?? '';
    if (/^[0-9A-Z]$/.test(character)) found += character;
    else if (character !== ' ' || text[at - 1] === ' ') return null;
  }
  return /^[0-9A-Za-z]/.test(text.slice(at, at + 1)) || !isIban(found) ? null : { start, end: at };
}

/** ISO 13616: the country and the check digits go to the end, letters are numbers from 10, modulo 97 is 1. */
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
