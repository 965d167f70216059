import type { RunEvent } from '../event/run-event.types.js';
import type { WaitingRequest } from './waiting-request.types.js';

/** Limits a request's expiry to the run's deadline. A child run has the same deadline itself. */
export function withinDeadline(request: WaitingRequest, deadlineAt: number | null): WaitingRequest {
  if (deadlineAt === null || request.kind === 'child') return request;
  return { ...request, expires_at: Math.min(request.expires_at ?? deadlineAt, deadlineAt) };
}

/** The event of a run that waits for answers to these requests. */
export function waitingEvent(run_id: string, requests: readonly WaitingRequest[]): RunEvent {
  return { type: 'run.waiting', run_id, reason: requests[0]?.kind ?? 'approval', requests };
}

/** The first expiry of the requests; `null` if none expires. */
export function firstExpiry(requests: readonly WaitingRequest[]): number | null {
  const times = requests.flatMap(({ expires_at }) => expires_at ?? []);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Number of requests that a person answers in this run; a child run's are decided there. */
export function countDecisions(requests: readonly WaitingRequest[]): number {
  return requests.filter(({ kind }) => kind !== 'child').length;
}

/** Whether an answer at this time is too late; so is one at the deadline itself. @param at epoch ms */
export function hasExpired({ expires_at }: WaitingRequest, at: number): boolean {
  return expires_at !== null && expires_at <= at;
}
