import type { Reconciliation } from '../tool.types.js';

/**
 * Parses the return value of a tool's `reconcile`; undefined if invalid. Strict, since `not_happened` lets the call be
 * repeated.
 */
export function parseReconciliation(value: unknown): Reconciliation | undefined {
  if (typeof value !== 'object' || value === null || !('outcome' in value)) return undefined;
  const { outcome, error, result } = value as { outcome: unknown; error?: unknown; result?: unknown };
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
