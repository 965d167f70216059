import type { WaitingRequest } from './waiting-request.types.js';

/** After the deadline of the run nobody's answer is of use; a run that was called has the same one. */
export function withinDeadline(request: WaitingRequest, deadlineAt: number | null): WaitingRequest {
  if (deadlineAt === null || request.kind === 'child') return request;
  return { ...request, expires_at: Math.min(request.expires_at ?? deadlineAt, deadlineAt) };
}

/** When the first of the requests expires; `null` when none ever does. */
export function firstExpiry(requests: readonly WaitingRequest[]): number | null {
  const times = requests.flatMap(({ expires_at }) => expires_at ?? []);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Whether an answer at this time is too late: the deadline itself is too late. @param at epoch ms */
export function hasExpired({ expires_at }: WaitingRequest, at: number): boolean {
  return expires_at !== null && expires_at <= at;
}
