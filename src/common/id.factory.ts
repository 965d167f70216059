import { randomBytes } from 'node:crypto';

/** Digits of the time in base 32; enough until the year 3084. */
const TIME_DIGITS = 9;

/**
 * A new id: the time in ms, so that ids made later sort later and an index grows at its end, then 128 random bits.
 * 31 characters of `A-Z a-z 0-9 _ -`.
 */
export function newId(): string {
  return Date.now().toString(32).padStart(TIME_DIGITS, '0') + randomBytes(16).toString('base64url');
}
