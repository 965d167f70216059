import type { StoredTurn } from '../../src/session/index.js';

/** A turn with text that is hard to store. */
export function storedTurn(n: number, more: Partial<StoredTurn> = {}): StoredTurn {
  return {
    turn: n,
    runId: `run-${n}`,
    status: 'completed',
    messages: [{ role: 'user', content: `question ${n} NUL \0 lone \ud800 bird 🐦 "quoted" \\ \u2028` }],
    tokens: 10,
    plainTokens: 9,
    mark: null,
    createdAt: 1_700_000_000_000 + n,
    ...more,
  };
}
