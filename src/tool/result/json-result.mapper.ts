import { isUtf8 } from 'node:buffer';
import { types } from 'node:util';
import { AppError, messageOf } from '../../errors/index.js';
import { type JsonValue, parseExactJson } from '../../kernel/json/index.js';
import { maskSecrets } from '../../kernel/text/index.js';
import { isErrorLike, thrownText } from '../call/thrown-text.mapper.js';

export interface JsonResult {
  readonly value: JsonValue;
  /** Text form: a string unchanged, any other value as JSON. */
  readonly text: string;
  /** Texts of the value that are base64 of bytes, if any. */
  readonly marks?: readonly BinaryMark[];
}

/** A base64 text that was written for bytes: a file, however short it is. */
export interface BinaryMark {
  /** Of the text. */
  readonly length: number;
  readonly start: string;
  readonly mediaType?: string;
}

/** Bytes with a media type, such as the body of a response. UTF-8 becomes a text, except for a file. */
export class TypedBytes {
  constructor(
    readonly bytes: Uint8Array,
    readonly mediaType: string,
    /** Whether the bytes are a file even if they are UTF-8. */
    readonly isFile = false,
  ) {}
}

/** Characters that identify a text, together with its length. */
const MARK_LENGTH = 64;

/** Marks by their texts. */
export class BinaryMarks {
  private readonly byText = new Map<string, BinaryMark>();

  constructor(list: readonly BinaryMark[]) {
    // The first of equal marks counts.
    for (const mark of list.toReversed()) this.byText.set(`${mark.length} ${mark.start}`, mark);
  }

  of(text: string): BinaryMark | undefined {
    return this.byText.get(`${text.length} ${text.slice(0, MARK_LENGTH)}`);
  }
}

/** Maximum number of values that are read from a generator. */
export const MAX_GENERATED = 10_000;

/**
 * Converts a tool's return value to JSON; `undefined` becomes null, `toJSON` is called. Values that JSON does not have
 * become readable values, since the call was made: docs/tools.md has the table.
 * @param secrets values to mask in errors, in addition to secret-shaped texts
 * @throws AppError `TOOL_FAILED` for a function or a symbol, and for a value whose own code throws
 */
export function toJsonResult(returned: unknown, secrets: readonly string[] = []): JsonResult {
  if (typeof returned === 'string') return { value: returned, text: returned };
  if (returned === undefined || returned === null) return { value: null, text: 'null' };
  if (typeof returned === 'function' || typeof returned === 'symbol') throw unwritable(`it is a ${typeof returned}`);
  const marks: BinaryMark[] = [];
  const text = stringify(returned, secrets, marks);
  if (text === undefined) return { value: null, text: 'null' };
  const value = parseExactJson(text) as JsonValue;
  return { value, text: typeof value === 'string' ? value : text, ...(marks.length > 0 && { marks }) };
}

/** Maximum number of bytes of an incomplete character at the end. */
const MAX_TAIL = 3;

/** Text of bytes if they are UTF-8; an incomplete character at the end is left out. `null` for other bytes. */
export function utf8Text(bytes: Uint8Array): string | null {
  for (let tail = 0; tail <= MAX_TAIL && tail <= bytes.length; tail++) {
    const part = bytes.subarray(0, bytes.length - tail);
    const isWhole = tail === 0 || isFirstByte(bytes[part.length]!);
    if (isWhole && isUtf8(part) && !bytes.includes(0)) return new TextDecoder().decode(part);
  }
  return null;
}

/** Whether a byte starts a character of several bytes. */
function isFirstByte(byte: number): boolean {
  return byte >= 0xc2 && byte <= 0xf4;
}

/** Whether a value is read by asking for its parts: a stream, a cursor, an asynchronous generator. */
export function isStreaming(value: object): value is AsyncIterable<unknown> {
  const { next, pipe, getReader } = value as Record<'next' | 'pipe' | 'getReader', unknown>;
  return Symbol.asyncIterator in value && [next, pipe, getReader].some((method) => typeof method === 'function');
}

function stringify(returned: unknown, secrets: readonly string[], marks: BinaryMark[]): string | undefined {
  try {
    return JSON.stringify(returned, replacer(secrets, marks));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unwritable(maskSecrets(messageOf(error), secrets), error);
  }
}

function unwritable(reason: string, cause?: unknown): AppError {
  return new AppError('TOOL_FAILED', `The tool's result cannot be written as JSON: ${reason}.`, { cause });
}

type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/** Replaces one result's values, and references to an object that contains them. */
function replacer(secrets: readonly string[], marks: BinaryMark[]): Replacer {
  /** The objects around the present value: as they are written, and as the tool returned them. */
  const written: unknown[] = [];
  const returned: unknown[] = [];
  return function replace(this: unknown, key: string, value: unknown): unknown {
    // `value` is already the outcome of `toJSON`.
    const given = (this as Record<string, unknown>)[key];
    if (typeof value !== 'object' && typeof given !== 'object') return scalar(value);
    if (given === null) return null;
    while (written.length > 0 && written.at(-1) !== this) {
      written.pop();
      returned.pop();
    }
    if (returned.includes(given)) return '[circular]';
    const readable = readableOf(given as object, value, secrets, marks);
    if (typeof readable === 'object' && readable !== null) {
      written.push(readable);
      returned.push(given);
    }
    return readable;
  };
}

/** The table of integers above 2^53 in docs/tools.md: an integer that no number represents is a text of its digits. */
function scalar(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'function') return value.name === '' ? '[function]' : `[function ${value.name}]`;
  return typeof value === 'symbol' ? String(value) : value;
}

/**
 * The form of an object that JSON can represent.
 * @param value outcome of its `toJSON`, else the object itself
 * @param secrets masked in the text of an error
 * @param marks receives the marks of bytes
 */
export function readableOf(given: object, value: unknown, secrets: readonly string[], marks: BinaryMark[]): unknown {
  if (Array.isArray(given)) return value;
  if (isErrorLike(given)) return maskSecrets(thrownText(given), secrets);
  if (types.isDate(given)) return value ?? 'Invalid Date';
  if (isBytes(given)) return binary(given, marks);
  // An object with its own `toJSON` is written as it says.
  if (value !== given) return scalar(value);
  return typed(given, marks) ?? collection(given) ?? described(given) ?? withoutRequest(given);
}

/** The content of blobs inside a result, which are read before the result is written as JSON. */
export const readBlobs = new WeakMap<object, TypedBytes>();

export function isBytes(value: object): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

/** A text; base64 with its mark for other bytes. */
function ofBytes({ bytes, mediaType, isFile }: TypedBytes, marks: BinaryMark[]): string {
  const text = isFile ? null : utf8Text(bytes);
  if (text !== null) return text;
  const base64 = Buffer.from(bytes).toString('base64');
  const start = base64.slice(0, MARK_LENGTH);
  marks.push({ length: base64.length, start, ...(mediaType !== '' && { mediaType }) });
  return base64;
}

function typed(given: object, marks: BinaryMark[]): string | undefined {
  const bytes = given instanceof TypedBytes ? given : readBlobs.get(given);
  return bytes && ofBytes(bytes, marks);
}

function binary(given: ArrayBufferView | ArrayBufferLike, marks: BinaryMark[]): unknown {
  if (!ArrayBuffer.isView(given)) return ofBytes(new TypedBytes(new Uint8Array(given), ''), marks);
  const isOctets = types.isUint8Array(given) || types.isUint8ClampedArray(given) || given instanceof DataView;
  if (isOctets)
    return ofBytes(new TypedBytes(new Uint8Array(given.buffer, given.byteOffset, given.byteLength), ''), marks);
  return Array.from(given as unknown as Iterable<unknown>);
}

function collection(given: object): unknown {
  if (types.isMap(given)) return fromPairs([...given]);
  if (types.isSet(given)) return [...given];
  if (isIterator(given)) return [...generated(given)];
  const isForm = given instanceof URLSearchParams || given instanceof Headers || given instanceof FormData;
  return isForm ? fromPairs([...given]) : undefined;
}

/** An object if every key is a text and unique, else a list of pairs. */
function fromPairs(pairs: readonly (readonly [unknown, unknown])[]): unknown {
  const keys = new Set(pairs.map(([key]) => key));
  const isObject = keys.size === pairs.length && pairs.every(([key]) => typeof key === 'string');
  return isObject ? Object.fromEntries(pairs) : pairs;
}

/** What remains of objects that are no data: the code of the tool must read them. */
function described(given: object): string | undefined {
  if (types.isRegExp(given)) return String(given);
  if (types.isPromise(given)) return '[promise]';
  if (given instanceof Response) return `[response ${given.status} ${given.statusText}]`;
  if (given instanceof Blob) return `[${given.type || 'binary data'}, ${given.size} bytes]`;
  return isStreaming(given) ? '[stream]' : undefined;
}

/** Only status and data of a reply of an HTTP client such as axios, whose request may contain credentials. */
function withoutRequest(given: object): object {
  const { status, data } = given as { status?: unknown; data?: unknown };
  const isReply = typeof status === 'number' && ['data', 'config', 'request'].every((member) => member in given);
  return isReply ? { status, data } : given;
}

/** A generator, or an iterator of a collection. */
export function isIterator(given: unknown): given is Iterator<unknown> {
  const { next, [Symbol.iterator]: self } = given as { next?: unknown; [Symbol.iterator]?: unknown };
  return typeof next === 'function' && typeof self === 'function';
}

/** The values of a generator, with its return value at the end. */
function* generated(iterator: Iterator<unknown>): Generator {
  for (let count = 0; ; count++) {
    const { done, value } = iterator.next();
    if (done) return value === undefined ? undefined : yield value;
    if (count === MAX_GENERATED) break;
    yield value;
  }
  iterator.return?.();
  yield cutNote();
}

/**
 * Note at the end of the values of a source that has more.
 * @param isList false for a stream of bytes or texts
 */
export function cutNote(isList = true): string {
  return `[cut: only the first ${isList ? `${MAX_GENERATED} values or ` : ''}4 MiB are read]`;
}
