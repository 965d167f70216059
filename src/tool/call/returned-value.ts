import { AppError } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { createBoundedCheck } from '../input/schema-input.factory.js';
import { Suspension } from '../suspension.factory.js';
import {
  cutNote,
  isBytes,
  isIterator,
  isStreaming,
  MAX_GENERATED,
  readableOf,
  readBlobs,
  TypedBytes,
  utf8Text,
} from '../result/json-result.mapper.js';
import { ResponseError } from './thrown-text.mapper.js';

/** Maximum number of bytes that are read from a stream or a generator. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Size of a number, of another scalar, and of the marks around a member. */
const SCALAR_BYTES = 4;

/**
 * Estimated size of a value as JSON, in bytes. Counting stops at `MAX_READ_BYTES`. An object with several references
 * counts once. The values of an iterator do not count, since counting would consume them.
 */
function readableSize(value: unknown): number {
  const seen = new Set<unknown>();
  const objects: object[] = [];
  let size = 0;
  const count = (part: unknown): void => {
    const isKnown = isObject(part) && seen.has(part);
    if (isObject(part)) seen.add(part);
    const readable = isObject(part) && !isKnown ? formOf(part) : part;
    if (isObject(readable) && !isKnown && !isBytes(readable)) objects.push(readable);
    size += sizeOf(readable);
  };
  count(value);
  for (let object = objects.pop(); object && size < MAX_READ_BYTES; object = objects.pop()) {
    Object.values(object).forEach(count);
    if (!Array.isArray(object)) size += Object.keys(object).join('').length;
  }
  return size;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return isObject(value) && isBytes(value) ? value.byteLength : SCALAR_BYTES;
}

/** The value that is written as JSON for an object. */
function formOf(given: object): unknown {
  if (isBytes(given)) return given;
  if (given instanceof TypedBytes) return given.bytes;
  if (isIterator(given)) return null;
  const { toJSON } = given as { toJSON?: unknown };
  return readableOf(given, typeof toJSON === 'function' ? (toJSON.call(given, '') as unknown) : given, [], []);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Reads a returned value that is not complete yet: the body of a response, a stream, an asynchronous generator. Another
 * value is returned unchanged, once the blobs inside it are read.
 * @param signal ends the reading
 * @throws AppError `TOOL_FAILED` for a response with an error status, and for a body that was read already, `TOOL_INVALID`
 * for a question to a person with an unusable schema
 */
export function readReturned(returned: unknown, signal: AbortSignal): unknown {
  if (isThenable(returned)) return settled(returned, signal);
  return isUnread(returned) ? read(returned, signal) : complete(returned, signal);
}

/** An async function, so that the stack of an error in a tool also has our frames. */
async function settled(pending: PromiseLike<unknown>, signal: AbortSignal): Promise<unknown> {
  const value = await pending;
  return isUnread(value) ? read(value, signal) : complete(value, signal);
}

function complete(value: unknown, signal: AbortSignal): unknown {
  if (!(value instanceof Suspension)) return withBlobs(value, signal);
  if (value.asked.schema) createBoundedCheck(value.asked.schema);
  return value;
}

/** Maximum number of objects in which blobs are looked for. */
const MAX_SEARCHED = 10_000;

/** Reads the blobs inside a result. Without a blob the result is returned at once. */
function withBlobs(value: unknown, signal: AbortSignal): unknown {
  const blobs = blobsIn(value);
  if (blobs.length === 0) return value;
  const all = blobs.map(async (blob) => {
    const content = await readBlob(blob, signal);
    if (content instanceof TypedBytes) readBlobs.set(blob, content);
  });
  return Promise.all(all).then(() => value);
}

function blobsIn(value: unknown): Blob[] {
  const found: Blob[] = [];
  const seen = new Set<object>();
  const search = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.size > MAX_SEARCHED) return;
    if (part instanceof Blob) found.push(part);
    else if (Array.isArray(part) || part.constructor === Object) seen.add(part);
  };
  search(value);
  try {
    // A set visits the objects that are added meanwhile.
    for (const object of seen) Object.values(object).forEach(search);
  } catch {
    // A getter that throws fails the call when the result is written.
  }
  return found;
}

/** @returns a text for a blob that is too large to be read */
async function readBlob(blob: Blob, signal: AbortSignal): Promise<unknown> {
  return contentOf(await readSource(sourceOf(blob.stream()), signal), blob.type);
}

type Unread = Response | Blob | AsyncIterable<unknown>;

function isUnread(value: unknown): value is Unread {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Response || value instanceof Blob || isStreaming(value);
}

async function read(unread: Unread, signal: AbortSignal): Promise<unknown> {
  if (unread instanceof Response) return readResponse(unread, signal);
  if (unread instanceof Blob) return readBlob(unread, signal);
  const source = sourceOf(unread);
  const reading = await readSource(source, signal);
  const content = source.isStream ? contentOf(reading) : undefined;
  return content ?? (reading.isCut ? [...reading.values, cutNote()] : reading.values);
}

async function readResponse(response: Response, signal: AbortSignal): Promise<unknown> {
  const { ok, status, statusText, body, bodyUsed, headers } = response;
  if (bodyUsed) {
    const message = 'The tool returned a response whose body it had already read: return the body.';
    throw new AppError('TOOL_FAILED', message);
  }
  const type = headers.get('content-type') ?? '';
  const content = (body && contentOf(await readSource(sourceOf(body), signal), type)) ?? '';
  const text = typeof content === 'string' ? content : '';
  if (!ok) throw new ResponseError(`HTTP ${status} ${statusText}`.trim(), text, isTransientStatus(status));
  return /\bjson\b/i.test(type) ? jsonOr(content) : content;
}

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429]);
const SERVER_ERROR = 500;

/** Whether the same HTTP request may succeed later. */
export function isTransientStatus(status: number): boolean {
  return status >= SERVER_ERROR || TRANSIENT_STATUSES.has(status);
}

function jsonOr(text: string | TypedBytes): unknown {
  if (typeof text !== 'string') return text;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}

interface Source {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Ends the source, even during a pending `next`; may throw. */
  end(): unknown;
  /** Whether its bytes or texts are parts of one text. */
  readonly isStream: boolean;
}

function sourceOf(unread: AsyncIterable<unknown>): Source {
  const { getReader, destroy } = unread as Partial<ReadableStream & { destroy: () => void }>;
  if (typeof getReader === 'function') {
    const reader = (unread as ReadableStream).getReader();
    return { next: () => reader.read(), end: () => reader.cancel(), isStream: true };
  }
  // A database cursor also has a method `next`, which may be another one than that of its iterator.
  const iterator = unread[Symbol.asyncIterator]();
  const isStream = 'pipe' in unread;
  const end = isStream && destroy ? () => destroy.call(unread) : () => iterator.return?.();
  return { next: async () => iterator.next(), end, isStream };
}

interface Reading {
  /** The values, with the return value of a generator at the end. */
  readonly values: readonly unknown[];
  /** Whether the source has more values than are read. */
  readonly isCut: boolean;
}

async function readSource(source: Source, signal: AbortSignal): Promise<Reading> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  aborted.catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  const values: unknown[] = [];
  let size = 0;
  let isDone = false;
  try {
    for (;;) {
      // The signal may be aborted before the listener is registered.
      signal.throwIfAborted();
      const { done = false, value } = await Promise.race([source.next(), aborted]);
      isDone = done;
      if (done) return { values: value === undefined ? values : [...values, value], isCut: false };
      const isPart = source.isStream && isTextPart(value);
      if (size >= MAX_READ_BYTES || (!isPart && values.length >= MAX_GENERATED)) return { values, isCut: true };
      values.push(value);
      size += readableSize(value);
    }
  } finally {
    signal.removeEventListener('abort', abort);
    if (!isDone) void (async () => source.end())().catch(() => undefined);
  }
}

/** A stream of bytes or texts is one text, or a file; `undefined` for other values. */
function contentOf({ values, isCut }: Reading, mediaType = ''): string | TypedBytes | undefined {
  if (values.every((value) => typeof value === 'string')) return withNote(values.join(''), isCut);
  if (!values.every((value) => value instanceof Uint8Array)) return undefined;
  const bytes = Buffer.concat(values);
  const isLong = isCut || bytes.length > MAX_READ_BYTES;
  const text = utf8Text(bytes.subarray(0, MAX_READ_BYTES));
  if (text !== null) return withNote(text, isLong);
  // Part of a file is of no use.
  return isLong ? leftOutNote(mediaType) : new TypedBytes(bytes, mediaType);
}

function leftOutNote(mediaType: string): string {
  return `[file left out: ${mediaType.split(';')[0] || 'binary data'}, larger than 4 MiB]`;
}

function withNote(text: string, isCut: boolean): string {
  return isCut ? `${text}\n${cutNote(false)}` : text;
}

function isTextPart(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
