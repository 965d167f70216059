import { parseExactJson } from '../../kernel/json/index.js';
import { RunItem, type RunPlace } from '../event/run-item.factory.js';
import type { RunEvent } from '../event/run-event.types.js';

/**
 * The longest event sent over the bus, in UTF-16 units. A longer one is only announced; followers read it from the
 * journal.
 */
export const LONGEST_EVENT = 2_000;

interface ItemMessage {
  readonly type: 'item';
  readonly from: string;
  readonly run: string;
  /** Its number in the journal; `null` for a live event. */
  readonly n: number | null;
  readonly at: number;
  /** The place of a follower that has received this item. */
  readonly place: RunPlace;
  /** Absent when it is too long to be sent. */
  readonly event?: RunEvent;
}

/** A message between processes; `from` is the sender's node. */
export type BusMessage =
  | { readonly type: 'wake'; readonly from: string; readonly run: string }
  | {
      readonly type: 'follow';
      readonly from: string;
      readonly runs: readonly string[];
      /** Whether the new follower needs the text so far of the streamed message. */
      readonly wantsText: boolean;
    }
  /** The sender reports status changes of all runs, for some seconds. */
  | { readonly type: 'watch'; readonly from: string }
  | { readonly type: 'changed'; readonly from: string; readonly runs: readonly string[] }
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

/** `null` for an event that was only announced. */
export function toItem({ n, at, place, event }: ItemMessage): RunItem | null {
  return event ? new RunItem(n, at, event, undefined, place) : null;
}

/** Parses a message; `null` for one of another version, whose data followers read from the journal. */
export function parseMessage(payload: string): BusMessage | null {
  try {
    const message = parseExactJson(payload) as BusMessage;
    return typeof message.from === 'string' ? message : null;
  } catch {
    return null;
  }
}
