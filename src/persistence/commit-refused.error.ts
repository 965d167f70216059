import { AppError } from '../errors/index.js';
import type { RefusalReason } from './statement/statement.types.js';

/** The error of a batch with an unmet condition; nothing of the batch was applied. */
export function commitRefused(reason: RefusalReason, statement: number, sql: string, cause?: unknown): AppError {
  const what = reason === 'rows' ? 'another request changed it first' : 'it exists already';
  // The statement's SQL is for the log only.
  return new AppError('COMMIT_REFUSED', `The write was refused and nothing was stored: ${what}.`, {
    cause: new Error(`refused: ${sql}`, { cause }),
    details: { reason, statement },
  });
}

/** Whether the first statement refused the batch, which checks the owner of the run. */
export function isRefusedAtOnce(error: unknown): boolean {
  return refusalOf(error) !== null && (error as AppError).details?.['statement'] === 0;
}

/** The reason of a refused batch; `null` for any other error. */
export function refusalOf(error: unknown): RefusalReason | null {
  if (!(error instanceof AppError) || error.code !== 'COMMIT_REFUSED') return null;
  return error.details?.['reason'] === 'unique' ? 'unique' : 'rows';
}

/** Whether a statement after the first `count` refused the batch. */
export function isRefusedAfter(cause: unknown, count: number): boolean {
  const at = refusalOf(cause) && (cause as AppError).details?.['statement'];
  return typeof at === 'number' && at >= count;
}
