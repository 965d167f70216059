/** A call that waits for its client, as its id names it. */
export interface ClientCall {
  readonly runId: string;
  /** The step of the call: `tool:1:2`. */
  readonly step: string;
}

/** `call`: the call itself. `approval` and `mcpr`: the request for its approval, in the AI SDK and in responses. */
type Kind = 'call' | 'approval' | 'mcpr';

const ID = /^(call|approval|mcpr)_([\w-]+)_(\d+)_(\d+(?:\.\d+)?)$/;

/** The id of a call for its client: it names the run, so that a later request with the result or decision finds it. */
export function toClientCallId({ runId, step }: ClientCall, kind: Kind = 'call'): string {
  const [, iteration, at] = step.split(':');
  return `${kind}_${runId}_${iteration}_${at}`;
}

/** @returns `undefined` for an id of another server, or of another kind */
export function parseClientCallId(id: string, kind: Kind = 'call'): ClientCall | undefined {
  const [, found, runId = '', iteration, at] = ID.exec(id) ?? [];
  return found === kind ? { runId, step: `tool:${iteration}:${at}` } : undefined;
}

/**
 * The place or id of a call, also of the n-th call of a script: that of the script with `.n`.
 * @param find looks up a call of the model by its id
 */
export function findCall(callId: string, find: (callId: string) => string | undefined): string | undefined {
  const own = find(callId);
  if (own !== undefined) return own;
  const [, script, n] = /^(.+)\.(\d+)$/s.exec(callId) ?? [];
  const outer = script === undefined ? undefined : find(script);
  return outer === undefined ? undefined : `${outer}.${n}`;
}
