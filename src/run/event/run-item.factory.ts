import type { RunEvent } from './run-event.types.js';

/** A position in a run's output: after a journaled event, and within the text of the streamed message. */
export interface RunPlace {
  /** The number of the last journaled event; 0 before the first. */
  readonly n: number;
  /** The attempt at the message; 0 outside of a message. Later attempts in a run have greater numbers. */
  readonly attempt: number;
  /** Length of the text received in this attempt, in UTF-16 units. */
  readonly offset: number;
}

/** Before the first event. */
export const START: RunPlace = { n: 0, attempt: 0, offset: 0 };

const EVENT = /^\d{1,9}$/;
const TEXT = /^(\d{1,9})\.(\d{1,15})\.(\d{1,10})$/;

/** Parses an SSE id: `n` of a journaled event, `n.attempt.offset` of a live one. @returns `null` for any other text */
export function parseRunPlace(id: string): RunPlace | null {
  if (EVENT.test(id)) return { ...START, n: Number(id) };
  const [, n, attempt, offset] = TEXT.exec(id) ?? [];
  return n === undefined ? null : { n: Number(n), attempt: Number(attempt), offset: Number(offset) };
}

/** After all other places. */
const END: RunPlace = { n: Number.MAX_SAFE_INTEGER, attempt: 0, offset: 0 };

/** One published event: numbered if journaled, serialised at most once. */
export class RunItem {
  private json: string | undefined;
  private size: number | undefined;
  /** The place of a follower that has received this item. */
  readonly place: RunPlace;

  /** @param place of a live event; default: after all others */
  constructor(
    /** The number in the journal; `null` for a live event. */
    readonly n: number | null,
    /** Epoch ms. */
    readonly at: number,
    readonly event: RunEvent,
    json?: string,
    place = END,
  ) {
    this.json = json;
    this.place = n === null ? place : { n, attempt: 0, offset: 0 };
  }

  get data(): string {
    return (this.json ??= JSON.stringify(this.event));
  }

  /** The size of the JSON in bytes. */
  get bytes(): number {
    return (this.size ??= Buffer.byteLength(this.data));
  }

  /** The SSE id: `n`, or `n.attempt.offset` for text; `null` for an item that is not resumable. */
  get id(): string | null {
    if (this.n !== null) return String(this.n);
    const { n, attempt, offset } = this.place;
    return attempt === 0 ? null : `${n}.${attempt}.${offset}`;
  }
}
