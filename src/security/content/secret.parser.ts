import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/**
 * Key formats published by their providers. A match must not follow a letter, digit, `_` or `-`. Thus a long run of
 * such characters is scanned once.
 */
const KEY =
  /(?<![A-Za-z0-9_-])(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,4096}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,4096}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{35}|gh[opsur]_[A-Za-z0-9]{36,4096}|github_pat_[A-Za-z0-9_]{22,4096}|glpat-[A-Za-z0-9_-]{20,4096}|xox[abeoprs]-[A-Za-z0-9-]{10,4096}|xapp-[A-Za-z0-9-]{10,4096}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,4096}|SG\.[A-Za-z0-9_-]{16,4096}\.[A-Za-z0-9_-]{16,4096}|eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{0,4096})/g;

/** V8 throws a RangeError for a match of a few million characters: longer keys are found by their start. */
const MAX_MATCH = 4096;

/** Keys of these formats may contain separators, like other names: `sk-learn-pipeline-example`. */
const SEPARATED = /^(?:sk-(?:ant-|proj-|or-)?|github_pat_|glpat-|xox[abeoprs]-|xapp-)/;
/** A part of a name; random parts are longer, or mix letters and digits. */
const NAME_PART = /^(?:[A-Z]?[a-z]{0,19}|[A-Z]{1,20})\d{0,4}$/;

/**
 * ASCII without white space and quotes, and Latin, Greek and Cyrillic letters. No finding continues across any other
 * character except spaces.
 */
export const WORD_CHARACTER = String.raw`[^\s"'<>\x60\x00-\x1f\x7f-\u00bf\u0530-\uffff]`;
/** A URL with a user and a colon: `scheme://user:`. */
const CREDENTIALS = new RegExp(
  String.raw`(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*):\/\/(?:(?![:@/?#])${WORD_CHARACTER})*:`,
  'g',
);
/** A password ends at the last `@` of its word: it may itself contain `/` and `@`. */
const PASSWORD = new RegExp(String.raw`(?:(?!:\/\/)${WORD_CHARACTER}){1,1024}(?=@)`, 'y');
const PORT = /\d{1,5}(?![^\s/?#])/y;
const WITHOUT_USERS = new Set(['http', 'https', 'ws', 'wss']);

/** First line of a private key, which ends at its END line or with the text. */
const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;

/** Finds API keys of common providers, JSON Web Tokens, private keys in PEM, and passwords in connection strings. */
export function findSecrets(text: string): Span[] {
  const keys = spansOf(text, KEY)
    .map((span) => (span.end - span.start < MAX_MATCH ? span : { ...span, end: wordEnd(text, span.end) }))
    .filter(({ start, end }) => !isName(text.slice(start, end)));
  return [...keys, ...passwords(text), ...privateKeys(text)];
}

function wordEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && /[A-Za-z0-9_-]/.test(text[end]!)) end++;
  return end;
}

/** Start of a private key without an end line; -1 if all are complete or the text has no key. */
export function openPrivateKey(text: string): number {
  const last = privateKeys(text).at(-1);
  return last && last.end === text.length ? last.start : -1;
}

function isName(key: string): boolean {
  const prefix = SEPARATED.exec(key)?.[0];
  if (prefix === undefined) return false;
  const parts = key.slice(prefix.length).split(/[_-]/);
  return parts.length > 1 && /[a-z]{4}/.test(key) && parts.every((part) => NAME_PART.test(part));
}

function passwords(text: string): Span[] {
  return [...text.matchAll(CREDENTIALS)].flatMap(({ index, 0: before, 1: scheme = '' }) => {
    const start = index + before.length;
    PORT.lastIndex = start;
    PASSWORD.lastIndex = start;
    // An `@` in the path of a web page does not indicate a password.
    if (WITHOUT_USERS.has(scheme.toLowerCase()) && PORT.test(text)) return [];
    return PASSWORD.test(text) ? { start, end: PASSWORD.lastIndex } : [];
  });
}

function privateKeys(text: string): Span[] {
  const spans: Span[] = [];
  PRIVATE_KEY.lastIndex = 0;
  for (let begin = PRIVATE_KEY.exec(text); begin; begin = PRIVATE_KEY.exec(text)) {
    KEY_END.lastIndex = PRIVATE_KEY.lastIndex;
    const end = KEY_END.exec(text) ? KEY_END.lastIndex : text.length;
    spans.push({ start: begin.index, end });
    PRIVATE_KEY.lastIndex = end;
  }
  return spans;
}
