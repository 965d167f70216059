import type { RunEvent } from './run-event.types.js';

/** One event on its way: numbered when the journal has it, with its JSON made at most once. */
export class RunItem {
  private json: string | undefined;

  constructor(
    /** The place in the journal; `null` for a live event. */
    readonly n: number | null,
    /** Epoch ms. */
    readonly at: number,
    readonly event: RunEvent,
    json?: string,
  ) {
    this.json = json;
  }

  get data(): string {
    return (this.json ??= JSON.stringify(this.event));
  }
}
