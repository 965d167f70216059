import type { RunEvent } from './run-event.types.js';

/** One event on its way: numbered when the journal has it, with its JSON made at most once. */
export class RunItem {
  private json: string | undefined;
  /** Where it belongs in the run: its number, or that of the last journaled event before it. */
  readonly place: number;

  /** @param before the number of the last journaled event before a live one; without it, it comes after all of them */
  constructor(
    /** The place in the journal; `null` for a live event. */
    readonly n: number | null,
    /** Epoch ms. */
    readonly at: number,
    readonly event: RunEvent,
    json?: string,
    before = Number.MAX_SAFE_INTEGER,
  ) {
    this.json = json;
    this.place = n ?? before;
  }

  get data(): string {
    return (this.json ??= JSON.stringify(this.event));
  }
}
