import { setTimeout } from 'node:timers/promises';
import { endsStream } from '../run-event.types.js';
import type { RunBus } from '../run-bus.js';

/** What the bus has lost is found after this time at the latest, in ms. */
const LOOK_AGAIN_MS = 2_000;

/** Listens for a run to come to an end, to wait, or to be given up where it was executed. */
export class ChildNews {
  private readonly controller = new AbortController();
  private readonly told: Promise<void>;
  private readonly unsubscribe: () => void;

  constructor(bus: RunBus, runId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.told = promise;
    this.unsubscribe = bus.subscribe(runId, ({ event }) => void (endsStream(event) && resolve()));
  }

  /** Resolves when it is time to look at the run: something was told, the signal is aborted, or nothing came for a while. */
  async arrival(signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal;
    const late = setTimeout(LOOK_AGAIN_MS, undefined, { signal: stop, ref: false }).catch(() => undefined);
    await Promise.race([this.told, late]);
  }

  close(): void {
    this.controller.abort();
    this.unsubscribe();
  }
}
