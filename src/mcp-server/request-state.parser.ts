/** Where a client goes on: a run, and the question of it that the client was asked. */
export interface RequestState {
  readonly runId: string;
  readonly requestId: string;
}

/**
 * It is not signed: whose run it is, and what that waits for, the journal says.
 * @param requestId letters, digits and colons, as the ids of questions are
 */
export function toRequestState({ runId, requestId }: RequestState): string {
  return `${runId}/${requestId}`;
}

/** Undefined for what we never gave. */
export function parseRequestState(text: string): RequestState | undefined {
  const [, runId, requestId] = /^([\w-]{1,64})\/([a-z0-9:]{1,64})$/.exec(text) ?? [];
  return runId === undefined || requestId === undefined ? undefined : { runId, requestId };
}
