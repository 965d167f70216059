import { randomFillSync } from 'node:crypto';

/** The rule of `isId`, for error messages. */
export const ID_RULE = '1 to 128 letters, digits and _ - . : @ in Unicode form NFC, and not "." or ".."';

/**
 * Letters with their marks, and decimal digits, of any script. Ignorable characters (fillers, joiners, variation
 * selectors) are refused, since two ids that differ in them look equal.
 */
const ID = /^(?!\.{1,2}$)(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{Nd}_.:@-][\p{L}\p{M}\p{Nd}_.:@-]{0,127}$/u;

/**
 * Whether a text is a valid id of a session or name of an agent. Another Unicode form than NFC is refused, not
 * converted: a client then always receives the id that it sent, and stores compare bytes.
 */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ID.test(text) && text === text.normalize('NFC');
}

/** Base-32 digits of the time; sufficient until the year 3084. */
const TIME_DIGITS = 9;
const RANDOM_BYTES = 16;

/** Random bytes are generated in bulk, because a call costs more than the bytes. Each byte is used once. */
const pool = Buffer.alloc(256 * RANDOM_BYTES);
let used = pool.length;

/**
 * Creates an id of 31 characters of `A-Z a-z 0-9 _ -`: the time in ms, then 128 random bits. Later ids sort later, so
 * an index grows at its end.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString('base64url', used, (used += RANDOM_BYTES));
  return idsFrom(Date.now()) + random;
}

/** A text that sorts after all ids created before a time, and before all others. @param at epoch ms */
export function idsFrom(at: number): string {
  return at.toString(32).padStart(TIME_DIGITS, '0');
}
