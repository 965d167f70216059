import type { RunItem } from './run-item.factory.js';

export type RunListener = (item: RunItem) => void;

/** The port that carries what happens now: events to followers, and wake-ups to whoever runs a run. What it loses, the journal has. */
export abstract class RunBus {
  /** Whether anybody would get a live event of the run. */
  abstract hasListeners(runId: string): boolean;
  abstract publish(runId: string, item: RunItem): void;
  /** @returns a function that ends the subscription */
  abstract subscribe(runId: string, listener: RunListener): () => void;

  /** Tells the run's owner to look at the journal: a cancel was requested, or the run may start. */
  abstract wake(runId: string): void;
  abstract onWake(listener: (runId: string) => void): void;
}
