import { RunListenerRegistry } from './listen/run-listener.registry.js';
import type { RunOrigin } from './listen/run-listener.types.js';
import { RunItem } from './run-item.factory.js';
import type { RunRecord } from './run.types.js';

/** A message that is being streamed: the text so far of the current attempt. */
interface LiveMessage {
  readonly attempt: number;
  readonly iteration: number;
  /** The number of the last journaled event before its first text. */
  readonly begin: number;
  /** Whether text of an earlier attempt may have been published. */
  readonly isRestart: boolean;
  readonly text: string;
}

/** The published state of a running run, folded from its items in the order of publication. */
export class LiveRun {
  /** The message being streamed; `null` between messages. */
  message: LiveMessage | null = null;
  private text: RunItem | null = null;

  /** @param last the number of the last published journaled event */
  constructor(public last: number) {}

  apply({ n, event, place }: RunItem): void {
    this.text = null;
    if (n !== null) {
      this.last = n;
      if (event.type === 'message.completed') this.message = null;
    } else if (event.type === 'message.delta' && this.message?.attempt === place.attempt) {
      this.message = { ...this.message, text: this.message.text + event.text };
    } else if (event.type === 'message.delta' || event.type === 'step.restarted') {
      const { iteration, text } = event;
      // An earlier text of this message was not completed.
      const isRestart = event.type === 'step.restarted' || this.message !== null;
      this.message = { attempt: place.attempt, iteration, begin: place.n, isRestart, text };
    }
  }

  /** The text so far, as an item for a late follower on any node; `null` between messages. */
  soFar(): RunItem | null {
    if (this.text || !this.message) return this.text;
    const { attempt, iteration, text } = this.message;
    const place = { n: this.last, attempt, offset: text.length };
    return (this.text = new RunItem(null, Date.now(), { type: 'step.restarted', iteration, text }, undefined, place));
  }
}

/** The published state of runs that execute here; late followers start with it. */
export class LiveRunRegistry {
  private readonly runs = new Map<string, LiveRun>();

  /**
   * Registers a run that starts to publish here; the state of an earlier execution is dropped.
   * @param last the number of the last published journaled event
   */
  open(runId: string, last: number): LiveRun {
    const live = new LiveRun(last);
    this.runs.set(runId, live);
    return live;
  }

  /** `null` when the run is not executed here. */
  find(runId: string): LiveRun | null {
    return this.runs.get(runId) ?? null;
  }

  /** Removes a run whose execution in this process has ended. */
  close(runId: string): void {
    this.runs.delete(runId);
  }
}

export type RunListener = (item: RunItem) => void;
/** Sees each published item of a run at once, on the run's own path: it must be cheap and must not throw. */
export type RunObserver = (run: ObservedRun, item: RunItem) => void;
export type ObservedRun = RunOrigin & Pick<RunRecord, 'createdAt'>;
/** @param isOwn true if this process sent the wake-up */
export type WakeListener = (runId: string, isOwn: boolean) => void;

/**
 * The port for live messages: events to followers, wake-ups to the owner of a run. The journal holds the data of lost
 * messages.
 */
export abstract class RunBus {
  /** Listeners of all runs that this process executes. */
  readonly audience = new RunListenerRegistry();

  private readonly observers: RunObserver[] = [];

  /** @param live the message texts that runs stream at the moment, for followers that join late */
  constructor(readonly live = new LiveRunRegistry()) {}

  /** Publishes an item of a run that this process executes: once, after it is recorded. */
  emit(run: ObservedRun, item: RunItem): void {
    for (const observer of this.observers) observer(run, item);
    this.audience.publish(run, item);
    if (item.n !== null || this.hasListeners(run.id)) this.publish(run.id, item);
  }

  observe(observer: RunObserver): void {
    this.observers.push(observer);
  }

  /** Whether a live event of the run would reach a listener. */
  abstract hasListeners(runId: string): boolean;
  /** Publishes an item to the followers of the run. */
  abstract publish(runId: string, item: RunItem): void;
  /** @returns a function that ends the subscription */
  abstract subscribe(runId: string, listener: RunListener): () => void;

  /** Notes that this process no longer executes the run. Its followers here may receive it from another process. */
  abstract left(runId: string): void;

  /**
   * Calls the listener with the runs whose status other processes have changed, and with `null` if messages may be lost.
   * @returns the end of it
   */
  onRemoteChange(_listener: (runIds: readonly string[] | null) => void): () => void {
    return () => undefined;
  }

  /** Makes every process read the journal again: a cancel was requested, or the run may start. */
  abstract wake(runId: string): void;
  abstract onWake(listener: WakeListener): void;
}
