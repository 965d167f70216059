import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/**
 * The look-behind makes the scan linear: each run of characters is scanned once. A local part has at most 64 characters
 * (RFC 5321, 4.5.3.1.1).
 */
const EMAIL = /(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}/g;

/** Finds e-mail addresses in common form; not quoted local parts, nor names in other scripts. */
export function findEmails(text: string): Span[] {
  return text.includes('@') ? spansOf(text, EMAIL) : [];
}
