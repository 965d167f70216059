import { AppError } from '../../errors/index.js';
import type { WaitingKind, WaitingRequest } from './waiting-request.types.js';
import type { RunStatus } from '../run.types.js';

/**
 * The error of an answer to a run without an open request. A queued or running run may wait again, so the answer may be
 * retried.
 * @param expired requests of the run that expired without an answer
 */
export function notWaiting(runId: string, run_status: RunStatus, expired: readonly WaitingRequest[] = []): AppError {
  const isRetryable = run_status === 'queued' || run_status === 'running';
  const hint = isRetryable
    ? 'it continues; if it waits again, its events name the requests'
    : 'there is nothing to decide';
  const message = `Run "${runId}" is not waiting, it is ${run_status}: ${hint}.${expiryNote(expired)}`;
  return new AppError('RUN_NOT_WAITING', message, {
    isRetryable,
    details: { run_status, is_retryable: isRetryable, ...expiryDetails(expired) },
  });
}

/**
 * The error of an answer that matches no open request of a waiting run.
 * @param expired requests that match this answer and expired without an answer
 */
export function unmatchedAnswer(
  runId: string,
  { kind, callId }: { readonly kind: WaitingKind; readonly callId?: string | undefined },
  waiting: readonly WaitingRequest[],
  expired: readonly WaitingRequest[] = [],
): AppError {
  const open = waiting.map(described).join(', ') || 'nothing';
  const wanted = callId === undefined ? NAMES[kind] : `${NAMES[kind]} of call "${callId}"`;
  const message = `Run "${runId}" does not wait for ${wanted}, but for ${open}.${expiryNote(expired)}`;
  return new AppError('RUN_NOT_WAITING', message, {
    details: { run_status: 'waiting', is_retryable: false, waiting, ...expiryDetails(expired) },
  });
}

/** The error of an answer after the deadline of all its requests; the run did not change. */
export function answeredLate(runId: string, expired: readonly WaitingRequest[]): AppError {
  const message = `The answer to run "${runId}" is too late, and nothing was decided.${expiryNote(expired)}`;
  return new AppError('RUN_NOT_WAITING', message, {
    details: { run_status: 'waiting', is_retryable: false, ...expiryDetails(expired) },
  });
}

const NAMES: Readonly<Record<WaitingKind, string>> = {
  approval: 'approval',
  input: 'input',
  outcome_unknown: 'settlement',
  child: 'a child run',
  restored: 'release',
};

export function described({ kind, call_id, tool, child_run_id }: WaitingRequest): string {
  if (kind === 'restored') return 'release after a restore of the database';
  if (child_run_id !== undefined) return `run "${child_run_id}", which is call "${call_id}" (${tool}): decide there`;
  return `${NAMES[kind]} of call "${call_id}" (${tool})`;
}

/** `expires_at` is the latest deadline, in epoch ms: none of these requests can be answered after it. */
function expiryDetails(expired: readonly WaitingRequest[]): Readonly<Record<string, unknown>> {
  if (expired.length === 0) return {};
  const expires_at = Math.max(...expired.map((request) => request.expires_at ?? 0));
  return {
    expires_at,
    expired: expired.map(({ id, kind, call_id, tool, expires_at: deadline }) => {
      return { id, kind, call_id, tool, expires_at: deadline };
    }),
  };
}

function expiryNote(expired: readonly WaitingRequest[]): string {
  const notes = expired.map((request) => {
    return ` The ${described(request)} expired at ${new Date(request.expires_at ?? 0).toISOString()}.`;
  });
  return notes.join('');
}
