import type { Statement } from '../persistence/index.js';
import type { RunBus } from './run-bus.js';
import { isLive, type RunEvent } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { insertEvent } from './run-statement.factory.js';
import type { RunRecord } from './run.types.js';

/** What a batch takes out of the outbox: visible only once it is durable. */
export interface OutgoingBatch {
  readonly statements: readonly Statement[];
  publish(): void;
  discard(): void;
}

/**
 * A run's events on their way out, in order: journaled ones get their number and wait for their batch, live ones
 * pass at once unless a journaled one is before them.
 */
export class RunOutbox {
  private waiting: RunItem[] = [];
  private journaledWaiting = 0;
  /** Batches that are being committed; live events queue behind them. */
  private readonly inFlight: { items: RunItem[]; isDurable: boolean }[] = [];

  /** @param last the number of the run's last journaled event */
  constructor(
    private readonly run: RunRecord,
    private readonly bus: RunBus,
    private last: number,
  ) {}

  get hasJournaled(): boolean {
    return this.journaledWaiting > 0;
  }

  add(event: RunEvent): void {
    if (!isLive(event)) {
      this.journaledWaiting++;
      this.waiting.push(new RunItem(++this.last, Date.now(), event));
      return;
    }
    if (!this.bus.hasListeners(this.run.id)) return;
    const item = new RunItem(null, Date.now(), event, undefined, this.last);
    if (this.journaledWaiting > 0) this.waiting.push(item);
    else if (this.inFlight.length > 0) this.inFlight.at(-1)!.items.push(item);
    else this.bus.publish(this.run.id, item);
  }

  take(): OutgoingBatch {
    const flight = { items: this.waiting, isDurable: false };
    this.waiting = [];
    this.journaledWaiting = 0;
    this.inFlight.push(flight);
    return {
      statements: flight.items.filter((item) => item.n !== null).map((item) => insertEvent(this.run, item)),
      publish: () => {
        flight.isDurable = true;
        this.release();
      },
      discard: () => {
        flight.items = [];
        flight.isDurable = true;
        this.release();
      },
    };
  }

  private release(): void {
    while (this.inFlight[0]?.isDurable) {
      for (const item of this.inFlight.shift()!.items) this.bus.publish(this.run.id, item);
    }
  }
}
