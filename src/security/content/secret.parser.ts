import type { Span } from './content.types.js';
import { spansOf } from './pattern-span.mapper.js';

/**
 * Keys by the shapes that their makers publish. Each begins where no letter, digit, `_` or `-` stands before it, so that
 * a long run of such characters is gone through once.
 */
const KEY =
  /(?<![A-Za-z0-9_-])(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{35}|gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)/g;

/** A URL with a password: `scheme://user:password@host`. */
const CREDENTIALS = /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s:@/?#]*:([^\s@/]+)@/g;

/** How a private key begins; it ends at its END line, or with the text. */
const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;

/** Finds API keys of common makers, JSON Web Tokens, private keys in PEM, and the passwords of connection strings. */
export function findSecrets(text: string): Span[] {
  return [...spansOf(text, KEY), ...passwords(text), ...privateKeys(text)];
}

/** Where a private key begins that has no end yet; -1 when there is none. */
export function openPrivateKey(text: string): number {
  const last = privateKeys(text).at(-1);
  return last && last.end === text.length ? last.start : -1;
}

function passwords(text: string): Span[] {
  return [...text.matchAll(CREDENTIALS)].map(({ index, 0: found, 1: password = '' }) => {
    const end = index + found.length - '@'.length;
    return { start: end - password.length, end };
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
