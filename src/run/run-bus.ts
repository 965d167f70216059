import { LiveRunRegistry } from './follow/live-run.registry.js';
import { RunListenerRegistry } from './listen/run-listener.registry.js';
import type { RunOrigin } from './listen/run-listener.types.js';
import type { RunItem } from './run-item.factory.js';

export type RunListener = (item: RunItem) => void;
/** @param isOwn true if this process sent the wake-up */
export type WakeListener = (runId: string, isOwn: boolean) => void;

/**
 * The port for live messages: events to followers, wake-ups to the owner of a run. The journal holds the data of lost
 * messages.
 */
export abstract class RunBus {
  /** Listeners of all runs that this process executes. */
  readonly audience = new RunListenerRegistry();

  /** @param live the message texts that runs stream at the moment, for followers that join late */
  constructor(readonly live = new LiveRunRegistry()) {}

  /** Publishes an item of a run that this process executes: once, after it is recorded. */
  emit(run: RunOrigin, item: RunItem): void {
    this.audience.publish(run, item);
    if (item.n !== null || this.hasListeners(run.id)) this.publish(run.id, item);
  }

  /** Whether a live event of the run would reach a listener. */
  abstract hasListeners(runId: string): boolean;
  /** Publishes an item to the followers of the run. */
  abstract publish(runId: string, item: RunItem): void;
  /** @returns a function that ends the subscription */
  abstract subscribe(runId: string, listener: RunListener): () => void;

  /** Makes every process read the journal again: a cancel was requested, or the run may start. */
  abstract wake(runId: string): void;
  abstract onWake(listener: WakeListener): void;
}
