import { parseClientCallId } from '../../client-call-id.js';

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

const ITEM = /^(?:msg|rs|mcp)_([\w-]+)_\d+$/;

/** The id of an item that is no call for the client; it names the run, so that a later request can refer to it. */
export function toItemId(kind: 'msg' | 'rs' | 'mcp', runId: string, place: number): string {
  return `${kind}_${runId}_${place}`;
}

/** The run of an item, also of a call for the client. */
export function runOfItem(id: string): string | undefined {
  const call = parseClientCallId(id.replace(/^fc_/, 'call_')) ?? parseClientCallId(id, 'mcpr');
  return call?.runId ?? ITEM.exec(id)?.[1];
}
