import { randomFillSync } from 'node:crypto';

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
