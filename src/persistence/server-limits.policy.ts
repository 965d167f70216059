import { AsyncLocalStorage } from 'node:async_hooks';
import { withTimeout } from '../kernel/index.js';
import { NoAnswerError } from './storage-fault.policy.js';

/** Time limits for database servers that no variable changes, in ms. */
export const SERVER_LIMITS = {
  /** Connecting at the start, and each statement of the checks before it. */
  startMs: 10_000,
} as const;

/** Limit of long work: usage sums, exports, imports, erasure and maintenance, in ms. */
const LONG_WORK_MS = 120_000;

const longWork = new AsyncLocalStorage<number>();

/** Runs work whose database calls may each take minutes, such as the sum of a year's usage. */
export function withLongCalls<T>(work: () => Promise<T>): Promise<T> {
  return longWork.run(LONG_WORK_MS, work);
}

/** The limit of the calls of the current work if it is longer than `timeoutMs`; `undefined` for normal work. */
export function longLimit(timeoutMs: number): number | undefined {
  const limit = longWork.getStore();
  return limit === undefined || limit <= timeoutMs ? undefined : limit;
}

/**
 * The server's own limit for a statement, in ms: below the limit of the process, so that the server's error arrives
 * first and its connection stays usable.
 */
export function statementLimit(timeoutMs: number): number {
  return Math.max(Math.round(timeoutMs * 0.9), timeoutMs - 500);
}

/** The result of a call, with a limit for the wait for a connection and the answer together. @throws NoAnswerError */
export function withinLimit<Result>(limitMs: number, result: Promise<Result>): Promise<Result> {
  return withTimeout(limitMs, result, () => new NoAnswerError());
}
