import { parseExactJson } from '../../common/index.js';
import type { RunPlace } from '../follow/run-place.parser.js';
import type { RunEvent } from '../run-event.types.js';
import { RunItem } from '../run-item.factory.js';

/** An event longer than this is not sent, in UTF-16 units: only that it happened is, and the journal has the rest. */
export const LONGEST_EVENT = 2_000;

interface ItemMessage {
  readonly type: 'item';
  readonly from: string;
  readonly run: string;
  /** Its number in the journal; `null` for a live one. */
  readonly n: number | null;
  readonly at: number;
  /** Where a follower is that has been told this. */
  readonly place: RunPlace;
  /** Left out when it is too long to be sent. */
  readonly event?: RunEvent;
}

/** What processes tell each other; `from` is the sender's node. */
export type BusMessage =
  | { readonly type: 'wake'; readonly from: string; readonly run: string }
  | {
      readonly type: 'follow';
      readonly from: string;
      readonly runs: readonly string[];
      /** Whether the text so far of what is being told is wanted, since somebody has just begun to listen. */
      readonly wantsText: boolean;
    }
  | ItemMessage;

export function toItemMessage(from: string, run: string, item: RunItem): string {
  const { n, at, place, event, data } = item;
  const message: ItemMessage = {
    type: 'item',
    from,
    run,
    n,
    at,
    place,
    ...(data.length <= LONGEST_EVENT && { event }),
  };
  return JSON.stringify(message);
}

/** `null` for one that was only announced. */
export function toItem({ n, at, place, event }: ItemMessage): RunItem | null {
  return event ? new RunItem(n, at, event, undefined, place) : null;
}

/** A message of this version's making; another's is passed over: what it told, the journal has. */
export function parseMessage(payload: string): BusMessage | null {
  try {
    const message = parseExactJson(payload) as BusMessage;
    return typeof message.from === 'string' ? message : null;
  } catch {
    return null;
  }
}
