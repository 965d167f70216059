import type { JsonValue } from '../../common/index.js';

/**
 * A value of a database as JSON can hold it, for a model to read: whole numbers that no number can hold, and times, as text; bytes as
 * `0x…`. @param maxLength characters; what is longer is cut, with a mark that says so
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
  // No half of a pair.
  const isHigh = last >= 0xd800 && last <= 0xdbff;
  const kept = text.slice(0, isHigh ? maxLength - 1 : maxLength);
  return `${kept}… [cut: ${kept.length} of ${length} characters shown]`;
}
