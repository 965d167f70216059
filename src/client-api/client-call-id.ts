/** A call of a client tool, as its id names it. */
export interface ClientCall {
  readonly runId: string;
  /** The step of the call: `tool:1:2`. */
  readonly step: string;
}

const STEP = /^tool:(\d+):(\d+)$/;
const ID = /^call_([\w-]+)_(\d+)_(\d+)$/;

/** The id of a call for its client: it names the run, so that a later request with the result finds it. */
export function toClientCallId({ runId, step }: ClientCall): string {
  const [, iteration, at] = STEP.exec(step) ?? [];
  return `call_${runId}_${iteration}_${at}`;
}

/** @returns `undefined` for an id of another server */
export function parseClientCallId(id: string): ClientCall | undefined {
  const [, runId, iteration, at] = ID.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, step: `tool:${iteration}:${at}` };
}
