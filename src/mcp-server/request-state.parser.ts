/** Position at which a client continues: a run, and its question to the client. */
export interface RequestState {
  readonly runId: string;
  readonly requestId: string;
}

/**
 * Not signed: the journal contains the owner of the run and its open questions.
 * @param requestId letters, digits and colons, as in the ids of questions
 */
export function toRequestState({ runId, requestId }: RequestState): string {
  return `${runId}/${requestId}`;
}

/** Undefined for an invalid text. */
export function parseRequestState(text: string): RequestState | undefined {
  const [, runId, requestId] = /^([\w-]{1,64})\/([a-z0-9:]{1,64})$/.exec(text) ?? [];
  return runId === undefined || requestId === undefined ? undefined : { runId, requestId };
}
