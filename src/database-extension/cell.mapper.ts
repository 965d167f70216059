import type { JsonValue } from '../kernel/index.js';

/**
 * Converts a database value to JSON for a model. Integers beyond the exact range and times become text, bytes become
 * `0x…`.
 * @param maxLength characters; a longer value is cut, with a note
 */
export function toCell(value: unknown, maxLength: number): JsonValue {
  if (typeof value === 'string') return cut(value, value.length, maxLength);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : String(value);
  return typeof value === 'object' ? objectCell(value, maxLength) : null;
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

function objectCell(value: object | null, maxLength: number): JsonValue {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return bytesCell(value, maxLength);
  const json = JSON.stringify(value);
  return json.length <= maxLength ? (value as JsonValue) : cut(json, json.length, maxLength);
}

function bytesCell(bytes: Uint8Array, maxLength: number): string {
  const hex = Buffer.from(bytes.subarray(0, maxLength)).toString('hex');
  return cut(`0x${hex}`, bytes.length * 2 + 2, maxLength);
}

function cut(text: string, length: number, maxLength: number): string {
  if (length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  // Do not split a surrogate pair.
  const isHigh = last >= 0xd800 && last <= 0xdbff;
  const head = text.slice(0, isHigh ? maxLength - 1 : maxLength);
  return `${head}… [cut: ${head.length} of ${length} characters shown]`;
}
