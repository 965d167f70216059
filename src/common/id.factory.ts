import { randomFillSync } from 'node:crypto';

/** Digits of the time in base 32; enough until the year 3084. */
const TIME_DIGITS = 9;
const RANDOM_BYTES = 16;

/** Random bytes are drawn many at a time: asking for them costs more than they do. Each is used once. */
const pool = Buffer.alloc(256 * RANDOM_BYTES);
let used = pool.length;

/**
 * A new id: the time in ms, so that ids made later sort later and an index grows at its end, then 128 random bits.
 * 31 characters of `A-Z a-z 0-9 _ -`.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString('base64url', used, (used += RANDOM_BYTES));
  return idsFrom(Date.now()) + random;
}

/** Sorts after the ids that were made before a time, and before all others. @param at epoch ms */
export function idsFrom(at: number): string {
  return at.toString(32).padStart(TIME_DIGITS, '0');
}
