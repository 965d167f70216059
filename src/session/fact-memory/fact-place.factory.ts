import type { Cipher, RowPlace, SealedColumn, SealedTable, StoredRow } from '../../security/encryption/index.js';
import { withoutTrailing } from '../../kernel/json/index.js';
import { indexTerms } from '../../kernel/text/index.js';
import type { FactOwner } from './fact-memory.js';

/** An unencrypted text with this start would be taken for an encrypted one: `=` is put before it. */
const LOOKS_SEALED = /^=*enc:/;

export function toPlain(text: string): string {
  return LOOKS_SEALED.test(text) ? `=${text}` : text;
}

export const FACT_TEXT: SealedColumn = {
  name: 'text',
  place: (row) => placeOf(row, 'fact.text'),
  toJson: (plain) => JSON.stringify(LOOKS_SEALED.test(plain) ? plain.slice(1) : plain),
};

export const FACT_EMBEDDING: SealedColumn = {
  name: 'embedding',
  place: (row) => placeOf(row, 'fact.embedding'),
  toJson: (plain) => JSON.stringify(plain),
};

/** The columns of facts that are encrypted at rest; the hashes that find a fact change with its text's key. */
export const FACT_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'fact',
    key: ['tenant', 'user_id', 'id'],
    also: ['digest'],
    columns: [{ ...FACT_TEXT, dependents: hashesOf }, FACT_EMBEDDING],
  },
];

function hashesOf(json: string, row: StoredRow, cipher: Cipher): { readonly terms: string; readonly digest: string } {
  const owner = { tenant: row['tenant'] as string, user: row['user_id'] as string };
  const text = JSON.parse(json) as string;
  const [plain] = spellingsOf(text);
  const isStored = (spelling: string) => digestsOf(cipher, owner, [spelling]).includes(row['digest'] as string);
  return {
    terms: toTokens(owner, indexTerms(text), cipher).join(' '),
    digest: cipher.digest(spellingsOf(text).find(isStored) ?? plain, hashPlace(owner, 'fact.digest')),
  };
}

/** The digests that a fact with one of these spellings may have; the first is that of a new fact. */
export function digestsOf(cipher: Cipher, owner: FactOwner, spellings: readonly string[]): string[] {
  return spellings.flatMap((text) => cipher.digests(text, hashPlace(owner, 'fact.digest')));
}

/** Characters of scripts without spaces between words, and their punctuation. */
const CJK = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\u3000-\u303f\uff00-\uff65]`;
const SPACE_BESIDE_CJK = new RegExp(`(?<=${CJK}) | (?=${CJK})`, 'gu');

/**
 * The text without differences that do not change a fact: extra white space, and stops at its end. Then the likely
 * spellings of facts of earlier versions, which stored the digest of the exact text.
 */
export function spellingsOf(text: string): [string, ...string[]] {
  const spaced = text.replace(/[\s\u200b]+/g, ' ').replace(SPACE_BESIDE_CJK, '');
  const short = withoutTrailing(spaced, ' .。．｡').trimStart();
  const plain = short === '' ? text : short;
  return [plain, text, `${plain}.`, `${plain}。`];
}

/** Hex digits of the hash in use: 64 bits. */
const DIGITS = 16;
const LETTERS = 'abcdefghijklmnop';

/**
 * Maps terms to tokens of the full-text index: 16 letters, hashed with the owner. A token is never index syntax, a stop
 * word or too short, whatever the database and its settings. The index contains no readable words, and a search matches
 * only entries of its owner. The tokens are sorted: their order would reveal the order of the words.
 */
export function toTokens(owner: FactOwner, terms: readonly string[], cipher: Cipher): string[] {
  const known = new Map<string, string>();
  for (const term of terms)
    if (!known.has(term))
      known.set(term, toLetters(cipher.digest(salted(owner, term), hashPlace(owner, 'fact.terms'))));
  return terms.map((term) => known.get(term)!).toSorted();
}

/** The tokens that facts may have for the terms, mapped to the one of new facts. */
export function toQueryTokens(owner: FactOwner, terms: readonly string[], cipher: Cipher): ReadonlyMap<string, string> {
  const place = hashPlace(owner, 'fact.terms');
  return new Map(
    terms.flatMap((term) => {
      const [current, ...others] = cipher.digests(salted(owner, term), place).map(toLetters);
      return [current!, ...others].map((token) => [token, current!] as const);
    }),
  );
}

function salted({ tenant, user }: FactOwner, term: string): string {
  return JSON.stringify([tenant, user]) + term;
}

function toLetters(hex: string): string {
  return hex.slice(0, DIGITS).replace(/./g, (digit) => LETTERS[Number.parseInt(digit, 16)]!);
}

function hashPlace({ tenant, user }: FactOwner, column: string): Omit<RowPlace, 'row'> {
  return { tenant, column, owner: user };
}

function placeOf(row: StoredRow, column: string): RowPlace {
  return { tenant: row['tenant'] as string, column, owner: row['user_id'] as string, row: row['id'] as string };
}
