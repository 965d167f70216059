import { setTimeout } from 'node:timers/promises';
import { endsStream } from '../run-event.types.js';
import type { RunBus } from '../run-bus.js';

/** Longest time until a lost bus message is noticed, in ms. */
const CHECK_AGAIN_MS = 2_000;

/** Waits for a run to end, to wait, or to be abandoned by its node. */
export class ChildNews {
  private readonly controller = new AbortController();
  private readonly stopped: Promise<void>;
  private readonly unsubscribe: () => void;

  constructor(bus: RunBus, runId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.unsubscribe = bus.subscribe(runId, ({ event }) => void (endsStream(event) && resolve()));
  }

  /** Resolves when the run must be read again: an event arrived, the signal is aborted, or the time is up. */
  async arrival(signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal;
    const late = setTimeout(CHECK_AGAIN_MS, undefined, { signal: stop, ref: false }).catch(() => undefined);
    await Promise.race([this.stopped, late]);
  }

  close(): void {
    this.controller.abort();
    this.unsubscribe();
  }
}
