import type { Reconciliation } from '../tool.types.js';

/** What a tool's `reconcile` gave, if it is one of the four answers; strict, because a call may be repeated on it. */
export function parseReconciliation(given: unknown): Reconciliation | undefined {
  if (typeof given !== 'object' || given === null || !('outcome' in given)) return undefined;
  const { outcome, error, result } = given as { outcome: unknown; error?: unknown; result?: unknown };
  switch (outcome) {
    case 'succeeded':
      return { outcome, result };
    case 'failed':
      return typeof error === 'string' ? { outcome, error } : undefined;
    case 'not_happened':
    case 'unknown':
      return { outcome };
    default:
      return undefined;
  }
}
