import type { RunPlace } from './follow/run-place.parser.js';
import type { RunEvent } from './run-event.types.js';

/** After everything. */
const END: RunPlace = { n: Number.MAX_SAFE_INTEGER, attempt: 0, offset: 0 };

/** One event on its way: numbered when the journal has it, with its JSON made at most once. */
export class RunItem {
  private json: string | undefined;
  private size: number | undefined;
  /** Where a follower is that has been told this. */
  readonly place: RunPlace;

  /** @param place of a live event; without it, it comes after all others */
  constructor(
    /** The place in the journal; `null` for a live event. */
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

  /** The bytes of its JSON. */
  get bytes(): number {
    return (this.size ??= Buffer.byteLength(this.data));
  }

  /** By which a follower says that it has this: `n`, or `n.attempt.offset` for text; `null` when it leaves no trace. */
  get id(): string | null {
    if (this.n !== null) return String(this.n);
    const { n, attempt, offset } = this.place;
    return attempt === 0 ? null : `${n}.${attempt}.${offset}`;
  }
}
