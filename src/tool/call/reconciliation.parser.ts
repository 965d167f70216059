import type { Reconciliation } from '../tool.types.js';

/**
 * Parses the return value of a tool's `reconcile`; undefined if invalid. Strict, since `not_happened` lets the call be
 * repeated.
 */
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
