/** The JSON functions of Node 22 that TypeScript's libraries do not declare yet (proposal "JSON.parse source text access"). */
interface SourceJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}
const sourceJson = JSON as unknown as SourceJson;

/**
 * An integer that no JavaScript number holds exactly, as it was written in JSON. `JSON.stringify` writes its digits
 * unchanged, `String(value)` gives them as text and `toBigInt()` as a number to calculate with.
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

  /** The nearest number; the largest finite one where the integer is beyond that. */
  toNumber(): number {
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(this.text)));
  }

  /** Arithmetic with a plain number throws a TypeError instead of rounding. */
  [Symbol.toPrimitive](hint: string): string | bigint {
    return hint === 'string' ? this.text : this.toBigInt();
  }

  /** @throws RangeError beyond 10,000 digits, which an exponent of few characters can ask for */
  toBigInt(): bigint {
    const { digits, exponent } = decimalOf(this.text)!;
    if (exponent > MAX_POWER) throw new RangeError(`${this.text} is too large to calculate with`);
    const value = BigInt(digits) * 10n ** BigInt(exponent);
    return this.text.startsWith('-') ? -value : value;
  }
}

/**
 * `JSON.parse` that keeps integers which a number would round (`ExactInteger`). Other numbers are read as usual: a decimal
 * is the nearest number. JSON without 16 digits in a row and without a three-digit exponent is only scanned for these.
 * @throws SyntaxError as `JSON.parse`
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!mayHoldExact(text) || !holdsExact(text)) return value;
  return sourceJson.parse(text, (_key, inner, { source }) =>
    typeof inner === 'number' && source !== undefined && isExact(source) ? new ExactInteger(source) : inner,
  );
}

/** The JSON text of an integer that parses to an `ExactInteger`. */
function isExact(source: string): boolean {
  if (source.length < MIN_LENGTH) return false;
  const written = decimalOf(source);
  if (written === undefined || written.exponent < 0) return false;
  const number = Number(source);
  if (!Number.isFinite(number)) return true;
  const read = decimalOf(String(number))!;
  return read.digits !== written.digits || read.exponent !== written.exponent;
}

/** A JSON text with every exact integer as a string that begins with a mark. */
export function markExact(text: string, mark: string): string {
  if (!mayHoldExact(text)) return text;
  return text.replaceAll(TOKEN, (token) =>
    !token.startsWith('"') && isExact(token) ? JSON.stringify(mark + token) : token,
  );
}

/** Whether a value is a JSON object: no list, and no number of any kind. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactInteger);
}

/** Whether a value of `JSON.rawJSON`, which is no object of members. */
export function isRawJson(value: unknown): boolean {
  return sourceJson.isRawJSON(value);
}

/** Whether a value holds an `ExactInteger`. */
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

/** A copy with the nearest number in the place of every `ExactInteger`, for checks that know numbers only. */
export function withRounded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactInteger) return value.toNumber();
  if (Array.isArray(value)) return value.map(withRounded);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRounded(inner)]));
}

const MAX_POWER = 10_000;
const RUN = 16;
/** Of `1e309`, the shortest integer beyond all numbers. */
const MIN_LENGTH = 5;
const LARGE_EXPONENT = /\d[eE]\+?\d{3}/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * A number of up to 15 digits is exact unless its exponent exceeds the largest number. In 16 consecutive digits and points
 * one has an index that is a multiple of 16: only these indexes are checked.
 */
function mayHoldExact(text: string): boolean {
  for (let at = RUN - 1; at < text.length; at += RUN) {
    if (!isDigit(text, at)) continue;
    let start = at;
    while (start > 0 && isDigit(text, start - 1)) start--;
    let end = at + 1;
    while (end < text.length && isDigit(text, end)) end++;
    if (end - start >= RUN) return true;
  }
  return LARGE_EXPONENT.test(text);
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e;
}

/** @param text valid JSON */
function holdsExact(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) if (!token.startsWith('"') && isExact(token)) return true;
  return false;
}

/** A decimal without zeros at either end: `digits` times ten to the power of `exponent`. */
function decimalOf(source: string): { readonly digits: string; readonly exponent: number } | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const all = (whole + fraction).replace(/^0+/, '');
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === 0x30) end--;
  if (end === 0) return { digits: '', exponent: 0 };
  return { digits: all.slice(0, end), exponent: Number(exponent) - fraction.length + all.length - end };
}
