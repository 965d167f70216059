import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/** Begins with a run of its characters, so that each run is gone through once. */
const EMAIL = /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}/g;

/** Finds e-mail addresses as they are commonly written; not quoted local parts, nor names in other scripts. */
export function findEmails(text: string): Span[] {
  return text.includes('@') ? spansOf(text, EMAIL) : [];
}
