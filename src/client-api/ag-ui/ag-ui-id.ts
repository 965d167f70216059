/** Ids of the messages of a run. They are the same in a repeated response, and unique in a thread. */

/** The n-th message of an iteration, counted from 1. */
export function messageId(runId: string, iteration: number, n: number): string {
  return `${ownMessages(runId)}${iteration}${n === 1 ? '' : `_${n}`}`;
}

/** Start of the ids of the messages of a run. */
export function ownMessages(runId: string): string {
  return `msg_${runId}_`;
}

/** The n-th thought of an iteration, counted from 1. */
export function reasoningId(runId: string, iteration: number, n: number): string {
  return `thought_${runId}_${iteration}${n === 1 ? '' : `_${n}`}`;
}

/** The message with the result of a call of a tool of the server. */
export function resultId(callId: string): string {
  return `result_${callId}`;
}
