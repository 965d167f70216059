import { randomBytes } from 'node:crypto';

/** A new id of 128 random bits, 22 characters of the URL-safe base64 alphabet. */
export function newId(): string {
  return randomBytes(16).toString('base64url');
}
