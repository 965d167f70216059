import { AppError } from '../../common/index.js';
import type { WaitingRequest } from './waiting-request.types.js';
import type { RunStatus } from '../run.types.js';

/** An answer to a run that asks nothing now. While it goes on it may ask again: the answer can be tried again then. */
export function notWaiting(runId: string, run_status: RunStatus): AppError {
  const isRetryable = run_status === 'queued' || run_status === 'running';
  const hint = isRetryable ? 'it goes on; if it waits again, its events tell for what' : 'there is nothing to decide';
  return new AppError('RUN_NOT_WAITING', `Run "${runId}" does not wait, it is ${run_status}: ${hint}.`, {
    isRetryable,
    details: { run_status, is_retryable: isRetryable },
  });
}

/** An answer to what a waiting run does not ask. */
export function notAsked(runId: string, wanted: string, waiting: readonly WaitingRequest[]): AppError {
  const message = `Run "${runId}" does not wait for ${wanted}, but for ${waiting.map(described).join(', ') || 'nothing'}.`;
  return new AppError('RUN_NOT_WAITING', message, {
    details: { run_status: 'waiting', is_retryable: false, waiting },
  });
}

export function described({ kind, call_id, tool, child_run_id }: WaitingRequest): string {
  if (child_run_id !== undefined) return `run "${child_run_id}", which is call "${call_id}" (${tool}): decide there`;
  return `${kind} of call "${call_id}" (${tool})`;
}
