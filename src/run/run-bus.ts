import { LiveRunRegistry } from './follow/live-run.registry.js';
import type { RunItem } from './run-item.factory.js';

export type RunListener = (item: RunItem) => void;
/** @param isOwn whether it was this process that woke */
export type WakeListener = (runId: string, isOwn: boolean) => void;

/** The port that carries what happens now: events to followers, and wake-ups to whoever runs a run. What it loses, the journal has. */
export abstract class RunBus {
  /** What runs are telling now, for followers that come late. */
  readonly live = new LiveRunRegistry();

  /** Whether anybody would get a live event of the run. */
  abstract hasListeners(runId: string): boolean;
  /** Tells what a run that is executed here has done. */
  abstract publish(runId: string, item: RunItem): void;
  /** @returns a function that ends the subscription */
  abstract subscribe(runId: string, listener: RunListener): () => void;

  /** Tells every process to look at the journal: a cancel was requested, or the run may start. */
  abstract wake(runId: string): void;
  abstract onWake(listener: WakeListener): void;
}
