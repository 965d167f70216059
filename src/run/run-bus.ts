import { LiveRunRegistry } from './follow/live-run.registry.js';
import { RunListenerRegistry } from './listen/run-listener.registry.js';
import type { TellingRun } from './listen/run-listener.types.js';
import type { RunItem } from './run-item.factory.js';

export type RunListener = (item: RunItem) => void;
/** @param isOwn whether it was this process that woke */
export type WakeListener = (runId: string, isOwn: boolean) => void;

/** The port that carries what happens now: events to followers, and wake-ups to whoever runs a run. What it loses, the journal has. */
export abstract class RunBus {
  /** Who hears of every run that is executed here. */
  readonly audience = new RunListenerRegistry();

  /** @param live the text that runs stream at the moment, for followers that come late */
  constructor(readonly live = new LiveRunRegistry()) {}

  /** Tells everybody what a run has done here: once, and not before it is recorded. */
  tell(run: TellingRun, item: RunItem): void {
    this.audience.tell(run, item);
    if (item.n !== null || this.hasListeners(run.id)) this.publish(run.id, item);
  }

  /** Whether anybody would get a live event of the run. */
  abstract hasListeners(runId: string): boolean;
  /** Tells those who follow the run what it has done here. */
  abstract publish(runId: string, item: RunItem): void;
  /** @returns a function that ends the subscription */
  abstract subscribe(runId: string, listener: RunListener): () => void;

  /** Tells every process to look at the journal: a cancel was requested, or the run may start. */
  abstract wake(runId: string): void;
  abstract onWake(listener: WakeListener): void;
}
