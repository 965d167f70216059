import { ExactInteger } from '../../kernel/index.js';

/** `JSON.stringify` writes an unpaired surrogate as an escape; a backslash in a text may look the same. */
const MAYBE_UNPAIRED = /\\ud[89a-f]/;

/** Serialises a request body. U+FFFD replaces unpaired surrogates: strict parsers reject the whole body for one. */
export function toWellFormedJson(body: unknown): string {
  const json = JSON.stringify(body);
  return MAYBE_UNPAIRED.test(json) ? JSON.stringify(toWellFormed(body)) : json;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return value;
  if (Array.isArray(value)) return value.map(toWellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), toWellFormed(one)]));
}
