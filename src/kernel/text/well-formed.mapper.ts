import { isJsonObject, isRawJson } from '../json/exact-json.parser.js';

/**
 * Replaces lone surrogates (halves of characters such as emoji) by U+FFFD in all texts and keys of a JSON value. Strict
 * parsers reject the whole JSON because of one. A well-formed value is returned itself.
 */
export function wellFormed<T>(value: T): T {
  return formed(value) as T;
}

function formed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(formed);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value) || isRawJson(value)) return value;
  const entries = Object.entries(value);
  const changed = entries.map(([key, member]) => [key.toWellFormed(), formed(member)] as const);
  const isSame = changed.every(([key, member], at) => key === entries[at]![0] && member === entries[at]![1]);
  return isSame ? value : Object.fromEntries(changed);
}
