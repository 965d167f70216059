import { AppError, fieldMistake } from '../../common/index.js';
import type { WaitingKind, WaitingRequest } from './waiting-request.types.js';
import { described, notAsked } from './not-waiting.error.js';
import type { WaitingRun } from './run-decision.service.js';

/**
 * The requests of a kind that an answer is for: those of the call it names, else all.
 * @throws AppError `RUN_NOT_WAITING` telling what it waits for, when there is none
 */
export function selectRequests({ run, requests }: WaitingRun, kind: WaitingKind, callId?: string): WaitingRequest[] {
  const ofKind = requests.filter((request) => request.kind === kind);
  const selected = callId === undefined ? ofKind : ofKind.filter(({ call_id }) => call_id === callId);
  if (selected.length > 0) return selected;
  const of = callId === undefined ? '' : ` of call "${callId}"`;
  throw notAsked(run.id, `${kind}${of}`, requests);
}

/** The requests that a no is for: calls that wait for leave and, where there is none, questions. Throws as `selectRequests`. */
export function selectDeniable(waiting: WaitingRun, callId?: string): WaitingRequest[] {
  const isAsked = (kind: WaitingKind) =>
    waiting.requests.some((one) => one.kind === kind && (callId === undefined || one.call_id === callId));
  return selectRequests(waiting, isAsked('input') && !isAsked('approval') ? 'input' : 'approval', callId);
}

/** As `selectRequests`, where an answer fits one only. @throws AppError `VALIDATION_FAILED` listing them, when there are more */
export function selectRequest(waiting: WaitingRun, kind: WaitingKind, callId?: string): WaitingRequest {
  const selected = selectRequests(waiting, kind, callId);
  const [request] = selected;
  if (request && selected.length === 1) return request;
  const message = `Say by callId which one is meant: ${selected.map(described).join(', ')}.`;
  throw new AppError('VALIDATION_FAILED', message, {
    details: { errors: [fieldMistake('callId', message, 'isOneCall', callId)], waiting: selected },
  });
}
