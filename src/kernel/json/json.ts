import 'reflect-metadata';
import { readFileSync } from 'node:fs';

/** Why a text is not acceptable JSON. `path` is the place of a forbidden key, `value` is its value. */
export type JsonFault =
  | { readonly kind: 'syntax' }
  | { readonly kind: 'depth'; readonly maxDepth: number }
  | { readonly kind: 'values'; readonly maxValues: number }
  | { readonly kind: 'forbidden_key'; readonly path: string; readonly value: unknown };

export type ParsedJson =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: JsonFault };

export const MAX_JSON_DEPTH = 100;

/**
 * Parses untrusted JSON: nested at most `MAX_JSON_DEPTH` levels deep (checked before any recursive code), and without
 * the key `__proto__`, which would change an object's prototype when it is copied.
 * @param parse `parseExactJson` to preserve the digits of integers beyond 2^53
 * @param maxValues maximum number of values, checked before any object exists; an empty list or object counts as two
 */
export function parseJson(
  text: string,
  parse: (text: string) => unknown = JSON.parse,
  maxValues = Number.POSITIVE_INFINITY,
): ParsedJson {
  const fault = text.length > MAX_JSON_DEPTH ? sizeFault(text, maxValues) : undefined;
  if (fault) return { ok: false, fault };
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    return { ok: false, fault: { kind: 'syntax' } };
  }
  // The key may be written with escapes; the parsed value contains it unescaped.
  const found = /__proto__|\\u/.test(text) ? proto(value, '') : null;
  return found ? { ok: false, fault: { kind: 'forbidden_key', ...found } } : { ok: true, value };
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COMMA = 0x2c;

/** Counts brackets and commas outside strings. */
function sizeFault(text: string, maxValues: number): JsonFault | undefined {
  let depth = 0;
  let values = 1;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === QUOTE) isString = !isString;
    else if (!isString) {
      const change = depthOf(unit);
      depth += change;
      if (change > 0 || unit === COMMA) values++;
      if (depth > MAX_JSON_DEPTH) return { kind: 'depth', maxDepth: MAX_JSON_DEPTH };
      if (values > maxValues) return { kind: 'values', maxValues };
    }
  }
  return undefined;
}

/** `{` and `}` differ from `[` and `]` in one bit. */
function depthOf(unit: number): number {
  const bracket = unit & ~0x20;
  if (bracket === 0x5b) return 1;
  return bracket === 0x5d ? -1 : 0;
}

/** The first `__proto__` key, with its path such as `a.b[0].__proto__`. */
function proto(value: unknown, path: string): { path: string; value: unknown } | null {
  if (typeof value !== 'object' || value === null) return null;
  const prefix = path === '' ? '' : `${path}.`;
  const own = Object.getOwnPropertyDescriptor(value, '__proto__');
  if (own) return { path: `${prefix}__proto__`, value: own.value };
  for (const [key, child] of Object.entries(value)) {
    const found = proto(child, Array.isArray(value) ? `${path}[${key}]` : `${prefix}${key}`);
    if (found !== null) return found;
  }
  return null;
}

const RAW = Symbol('raw');

/**
 * Hides a user's value from libraries: class-transformer instantiates whatever a value names as its `constructor`, and
 * Nest's pipe deletes this key and `prototype` from all input, including users' own data.
 */
export class RawValue {
  readonly #value: unknown;

  constructor(value?: unknown) {
    this.#value = value;
  }

  static unwrapped(value: unknown): unknown {
    return value instanceof RawValue ? value.#value : value;
  }
}

/** Marks a field of a class as a raw value. */
export function markRaw(prototype: object, field: string | symbol): void {
  Reflect.defineMetadata(RAW, true, prototype, field);
}

/** Whether `markRaw` marked the field of the class or of a superclass. */
export function isRaw({ prototype }: Function, field: string): boolean {
  return Reflect.getMetadata(RAW, prototype as object, field) === true;
}

const MARK = 0xfeff;
const UTF16 = 'it is UTF-16, and only UTF-8 is read: save it as UTF-8';

/** The text without a leading byte order mark (U+FEFF). Only one is removed: a second one is part of the text. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === MARK ? text.slice(1) : text;
}

/** The text without any of these characters at its end. Linear in the length, unlike `/[…]+$/`. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/**
 * Decodes UTF-8 and removes a leading byte order mark. Invalid bytes become U+FFFD.
 * @throws Error for UTF-16 or UTF-32, with or without a byte order mark
 */
export function decodeText(bytes: Uint8Array): string {
  if (isWide(bytes)) throw new Error(UTF16);
  return withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

/**
 * Reads a whole text file as `decodeText` does.
 * @throws Error if the file cannot be read or is UTF-16
 */
export function readText(path: string): string {
  return decodeText(readFileSync(path));
}

/** FF FE and FE FF are the marks of UTF-16. Without a mark, its first character (ASCII in all our formats) has a NUL byte. */
function isWide([first, second]: Uint8Array): boolean {
  if (first === undefined || second === undefined) return false;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || first === 0 || second === 0;
}
