import { hash } from 'node:crypto';
import type { FactOwner } from './fact.types.js';

/** Hex digits of the hash in use: 64 bits. */
const DIGITS = 16;
const LETTERS = 'abcdefghijklmnop';

/**
 * Maps terms to tokens of the full-text index: 16 letters, hashed with the owner. A token is never index syntax, a stop
 * word or too short, whatever the database and its settings. The index contains no readable words, and a search matches
 * only entries of its owner.
 */
export function toTokens({ tenant, user }: FactOwner, terms: readonly string[]): string[] {
  const salt = JSON.stringify([tenant, user]);
  const known = new Map<string, string>();
  return terms.map((term) => {
    let token = known.get(term);
    if (token === undefined) known.set(term, (token = toLetters(hash('sha256', salt + term))));
    return token;
  });
}

function toLetters(hex: string): string {
  return hex.slice(0, DIGITS).replace(/./g, (digit) => LETTERS[Number.parseInt(digit, 16)]!);
}
