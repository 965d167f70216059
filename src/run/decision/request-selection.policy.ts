import { AppError } from '../../errors/index.js';
import { fieldMistake } from '../../kernel/index.js';
import type { WaitingKind, WaitingRequest } from './waiting-request.types.js';
import { answeredLate, described, unmatchedAnswer } from './not-waiting.error.js';
import { hasExpired } from './waiting-time.policy.js';
import { type WaitingRun } from './run-decision.service.js';

/**
 * The requests of a kind that an answer matches: those of the named call, else all. Requests past their deadline are
 * excluded, even if no timer has expired them yet.
 * @param at time of the answer, epoch ms
 * @throws AppError `RUN_NOT_WAITING` when no request matches; it names the open requests, and a passed deadline
 */
export function selectRequests(
  waiting: WaitingRun,
  kind: WaitingKind,
  callId?: string,
  at = Date.now(),
): WaitingRequest[] {
  const { run, requests } = waiting;
  const selected = candidates(requests, kind, callId);
  const open = selected.filter((request) => !hasExpired(request, at));
  if (open.length > 0) return open;
  if (selected.length > 0) throw answeredLate(run.id, selected);
  throw unmatchedAnswer(run.id, { kind, callId }, requests, candidates(waiting.expired ?? [], kind, callId));
}

function candidates(requests: readonly WaitingRequest[], kind: WaitingKind, callId?: string): WaitingRequest[] {
  const ofKind = requests.filter((request) => request.kind === kind);
  return callId === undefined ? ofKind : ofKind.filter(({ call_id }) => call_id === callId);
}

/** The requests that a denial matches: approvals and, without one, questions. Throws as `selectRequests`. */
export function selectDeniable(waiting: WaitingRun, callId?: string): WaitingRequest[] {
  const hasRequest = (kind: WaitingKind) =>
    waiting.requests.some((one) => one.kind === kind && (callId === undefined || one.call_id === callId));
  return selectRequests(waiting, hasRequest('input') && !hasRequest('approval') ? 'input' : 'approval', callId);
}

/**
 * As `selectRequests`, for an answer to exactly one request. @throws AppError `VALIDATION_FAILED` listing several
 * matches
 */
export function selectRequest(waiting: WaitingRun, kind: WaitingKind, callId?: string): WaitingRequest {
  const [request] = selectRequests(waiting, kind, callId);
  // Expired requests count too: an answer meant for one must not go to another request.
  const possible = candidates(waiting.requests, kind, callId);
  if (request && possible.length === 1) return request;
  const message = `Name one call with callId: ${possible.map(described).join(', ')}.`;
  throw new AppError('VALIDATION_FAILED', message, {
    details: { errors: [fieldMistake('callId', message, 'isOneCall', callId)], waiting: possible },
  });
}
