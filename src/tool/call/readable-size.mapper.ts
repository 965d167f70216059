import { isBytes, isIterator, readableOf, TypedBytes } from './json-result.mapper.js';

/** Maximum number of bytes that are read from a stream or a generator. */
export const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Size of a number, of another scalar, and of the marks around a member. */
const SCALAR_BYTES = 4;

/**
 * Estimated size of a value as JSON, in bytes. Counting stops at `MAX_READ_BYTES`. An object with several references
 * counts once. The values of an iterator do not count, since counting would consume them.
 */
export function readableSize(value: unknown): number {
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
