import { hash } from 'node:crypto';
import type { FactOwner } from './fact.types.js';

/** 64 bits of the hash. */
const DIGITS = 16;
const LETTERS = 'abcdefghijklmnop';

/**
 * What stands in the full-text index for a term: 16 letters that are the owner's own. So nothing that anybody writes is
 * the index's syntax, a stop word or too short for it, whatever the database and its settings; nobody's words are read
 * there; and a search meets the entries of one owner only.
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
