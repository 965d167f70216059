import type { RunPlace } from './follow/run-place.parser.js';
import type { RunEvent } from './run-event.types.js';

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
