/**
 * A response: the events of a run from its start, or from a wait for its client, up to the next wait or the end. Its id is
 * that of the run, followed by the number of the event of that wait.
 */
export interface ResponsePlace {
  readonly runId: string;
  /** Number of the event before the first one; 0 for the start. */
  readonly after: number;
}

const ID = /^([\w-]{1,64})(?:\.(\d{1,9}))?$/;

export function toResponseId({ runId, after }: ResponsePlace): string {
  return after === 0 ? runId : `${runId}.${after}`;
}

/** @returns `undefined` for a text that is no id of a response */
export function parseResponseId(id: string): ResponsePlace | undefined {
  const [, runId, after = '0'] = ID.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, after: Number(after) };
}

const ITEM = /^(?:msg|rs|mcp|fc|mcpr)_([\w-]+)_\d+(?:_\d+)?$/;

/** The id of an item; it names the run, so that a later request can refer to it. */
export function toItemId(kind: 'msg' | 'rs' | 'mcp' | 'fc' | 'mcpr', runId: string, place: number | string): string {
  return `${kind}_${runId}_${String(place)
    .replace(/^tool:/, '')
    .replace(':', '_')}`;
}

export function runOfItem(id: string): string | undefined {
  return ITEM.exec(id)?.[1];
}

/** The step of an approval request: `tool:1:2` of `mcpr_<run>_1_2`. */
export function approvalOf(id: string): { readonly runId: string; readonly step: string } | undefined {
  const [, runId, iteration, at] = /^mcpr_([\w-]+)_(\d+)_(\d+)$/.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, step: `tool:${iteration}:${at}` };
}
