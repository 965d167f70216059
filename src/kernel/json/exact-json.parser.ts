import { randomBytes } from 'node:crypto';

/** The JSON functions of Node 22 that TypeScript's libraries do not declare yet (proposal "JSON.parse source text access"). */
interface SourceJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}
const sourceJson = JSON as unknown as SourceJson;

/**
 * An integer that no JavaScript number represents exactly, as written in JSON. `JSON.stringify` writes its digits
 * unchanged, `String(value)` returns them as text, and `toBigInt()` as a number for calculations.
 */
export class ExactInteger {
  /** @param text a JSON number */
  constructor(readonly text: string) {}

  toJSON(): object {
    return sourceJson.rawJSON(this.text);
  }

  toString(): string {
    return this.text;
  }

  /** The nearest number; for integers beyond its range, the largest finite number. */
  toNumber(): number {
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(this.text)));
  }

  /** Arithmetic with a plain number throws a TypeError instead of rounding. */
  [Symbol.toPrimitive](hint: string): string | bigint {
    return hint === 'string' ? this.text : this.toBigInt();
  }

  /** @throws RangeError beyond 10,000 digits, which a short exponent can request */
  toBigInt(): bigint {
    const { digits, exponent } = decimalOf(this.text)!;
    if (exponent > MAX_POWER) throw new RangeError(`${this.text} is too large to calculate with`);
    const value = BigInt(digits) * 10n ** BigInt(exponent);
    return this.text.startsWith('-') ? -value : value;
  }
}

/** Prefix of the strings that represent exact integers between two parsers; random, so that no text contains it. */
const MARK = `${randomBytes(12).toString('base64url')}:`;

/**
 * `JSON.parse` that preserves integers which a number would round (`ExactInteger`). Other numbers are read as usual: a
 * decimal is the nearest number. JSON without 16 digits in a row and without a three-digit exponent is only scanned for
 * these. Otherwise the text is parsed twice, which takes a sixth of the time of a reviver that receives the source of
 * every value.
 * @throws SyntaxError as `JSON.parse`
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const marked = markExact(text, MARK);
  return marked === text ? value : restoreExact(JSON.parse(marked), MARK);
}

/** A valid JSON text with every exact integer as a string that starts with a mark. */
export function markExact(text: string, mark: string): string {
  let marked = '';
  let at = 0;
  for (const { start, token } of exactTokens(text)) {
    marked += text.slice(at, start) + JSON.stringify(mark + token);
    at = start + token.length;
  }
  return at === 0 ? text : marked + text.slice(at);
}

/** Replaces marked strings by exact integers, inside the value itself. */
export function restoreExact(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? new ExactInteger(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (typeof member === 'object' || typeof member === 'string') members[key] = restoreExact(member, mark);
  }
  return value;
}

/** Whether a value is a JSON object: not a list and not an `ExactInteger`. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactInteger);
}

/** Whether a value comes from `JSON.rawJSON`; such a value has no members. */
export function isRawJson(value: unknown): boolean {
  return sourceJson.isRawJSON(value);
}

/** Whether a value contains an `ExactInteger`. */
export function hasExact(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ExactInteger || Object.values(value).some(hasExact);
}

/** Every `ExactInteger` of a value, with its path. */
export function exactIn(
  value: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; value: ExactInteger }[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof ExactInteger) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => exactIn(inner, [...path, key]));
}

/** A copy with every `ExactInteger` replaced by the nearest number, for checks that support numbers only. */
export function withRounded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactInteger) return value.toNumber();
  if (Array.isArray(value)) return value.map(withRounded);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRounded(inner)]));
}

const MAX_POWER = 10_000;
const RUN = 16;
const LARGE_EXPONENT = /\d[eE]\+?\d{3}/;
const LARGE_EXPONENTS = new RegExp(LARGE_EXPONENT, 'g');
const TOKEN = /-?\d[\d.]*(?:[eE][+-]?\d+)?/y;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const BEFORE_NUMBER = new Set([undefined, ' ', '\t', '\n', '\r', ':', ',', '[']);

interface NumberToken {
  readonly start: number;
  readonly token: string;
}

/**
 * The exact integers of a text, in order. A number of up to 15 digits is exact unless its exponent exceeds the largest number. In
 * 16 consecutive digits and points one has an index that is a multiple of 16: only these indexes are checked.
 */
function exactTokens(text: string): NumberToken[] {
  const found = new Map<number, string>();
  for (const at of possibleStarts(text)) {
    const start = text[at - 1] === '-' ? at - 1 : at;
    if (!BEFORE_NUMBER.has(text[start - 1])) continue;
    TOKEN.lastIndex = start;
    const token = TOKEN.exec(text)?.[0];
    if (token !== undefined && isExact(token)) found.set(start, token);
  }
  return found.size === 0 ? [] : outsideStrings(text, found);
}

/** Starts of long numbers and of numbers with a large exponent. */
function possibleStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = RUN - 1; at < text.length; at += RUN) {
    if (!isDigit(text, at)) continue;
    const start = startOfRun(text, at);
    let end = at + 1;
    while (end < text.length && isDigit(text, end)) end++;
    if (end - start >= RUN && !isPlainDecimal(text, start, end)) starts.push(start);
    // A long run is read once.
    at += Math.floor((end - at) / RUN) * RUN;
  }
  // A test takes a third of the time of a search for all matches, and almost no text has one.
  if (LARGE_EXPONENT.test(text)) {
    for (const { index } of text.matchAll(LARGE_EXPONENTS)) starts.push(startOfRun(text, index));
  }
  return starts;
}

function startOfRun(text: string, at: number): number {
  let start = at;
  while (start > 0 && isDigit(text, start - 1)) start--;
  return start;
}

/** Whether the digits are certainly a decimal: they contain a point, and their last digit is behind it and is not 0. */
function isPlainDecimal(text: string, start: number, end: number): boolean {
  const isLast = text[end] !== 'e' && text[end] !== 'E' && text[end - 1] !== '0';
  return isLast && text.slice(start, end).includes('.');
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e;
}

function outsideStrings(text: string, found: ReadonlyMap<number, string>): NumberToken[] {
  const tokens: NumberToken[] = [];
  let open = text.indexOf('"');
  let close = open < 0 ? text.length : endOfString(text, open);
  for (const start of [...found.keys()].toSorted((a, b) => a - b)) {
    while (open >= 0 && close < start) {
      open = text.indexOf('"', close + 1);
      close = open < 0 ? text.length : endOfString(text, open);
    }
    if (open < 0 || start < open) tokens.push({ start, token: found.get(start)! });
  }
  return tokens;
}

/** Index of the quote that ends the string, or the length of the text. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** Whether a JSON number is an integer whose digits would change by a conversion to a number. */
function isExact(source: string): boolean {
  const written = decimalOf(source);
  if (written === undefined || written.exponent < 0) return false;
  const number = Number(source);
  if (!Number.isFinite(number)) return true;
  const read = decimalOf(String(number))!;
  return read.digits !== written.digits || read.exponent !== written.exponent;
}

/** A decimal without leading or trailing zeros: `digits` times ten to the power of `exponent`. */
function decimalOf(source: string): { readonly digits: string; readonly exponent: number } | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const all = (whole + fraction).replace(/^0+/, '');
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === 0x30) end--;
  if (end === 0) return { digits: '', exponent: 0 };
  return { digits: all.slice(0, end), exponent: Number(exponent) - fraction.length + all.length - end };
}
