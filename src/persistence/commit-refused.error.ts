import { AppError } from '../common/index.js';
import type { RefusalReason } from './statement.types.js';

/** The error of a batch whose condition does not hold; nothing of the batch was applied. */
export function commitRefused(reason: RefusalReason, statement: number, sql: string, cause?: unknown): AppError {
  const what = reason === 'rows' ? 'another request changed it first' : 'it is there already';
  // Which statement it was is for the log alone.
  return new AppError('COMMIT_REFUSED', `What was to be stored was refused, nothing of it was applied: ${what}.`, {
    cause: new Error(`refused: ${sql}`, { cause }),
    details: { reason, statement },
  });
}

/** Whether the batch was refused by its first statement, the one that says whose run it is. */
export function isRefusedAtOnce(error: unknown): boolean {
  return refusalOf(error) !== null && (error as AppError).details?.['statement'] === 0;
}

/** Why the batch was refused, or `null` when the error is another one. */
export function refusalOf(error: unknown): RefusalReason | null {
  if (!(error instanceof AppError) || error.code !== 'COMMIT_REFUSED') return null;
  return error.details?.['reason'] === 'unique' ? 'unique' : 'rows';
}

/** Whether the batch was refused for a statement behind the first `count`. */
export function isRefusedAfter(cause: unknown, count: number): boolean {
  const at = refusalOf(cause) && (cause as AppError).details?.['statement'];
  return typeof at === 'number' && at >= count;
}
