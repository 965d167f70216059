import type { Statement } from './statement.types.js';

/** A batch that waits for the next group. */
export interface WaitingBatch {
  readonly batch: readonly Statement[];
  /** Whether it resolves when it is written, before it is durable. */
  readonly isEarly: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** Errors of the refused batches of a group. */
export type Refusals = ReadonlyMap<WaitingBatch, unknown>;

export const NONE: Refusals = new Map();

export function settle(waiting: readonly WaitingBatch[], refusals: Refusals): void {
  for (const one of waiting) {
    if (refusals.has(one)) one.reject(refusals.get(one));
    else one.resolve();
  }
}

/** @returns the batches that wait for the fsync */
export function settleEarly(waiting: readonly WaitingBatch[], refusals: Refusals): readonly WaitingBatch[] {
  const early = waiting.filter(({ isEarly }) => isEarly);
  if (early.length === 0) return waiting;
  settle(early, refusals);
  return waiting.filter(({ isEarly }) => !isEarly);
}

export function refuse(waiting: readonly WaitingBatch[], error: unknown): Refusals {
  return new Map(waiting.map((one) => [one, error]));
}

/** Another process has locked the file; nothing was written. */
export function isLocked(error: unknown): boolean {
  return String((error as { code?: unknown } | null | undefined)?.code).startsWith('SQLITE_BUSY');
}

export function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
