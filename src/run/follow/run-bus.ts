import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { RunListenerRegistry, type RunOrigin } from './run-listener.registry.js';
import { RunItem } from '../event/run-item.factory.js';
import type { RunRecord } from '../run.types.js';

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

/** Receives the wake-ups of all applications that share the database. */
interface WokenBus {
  woken(runId: string, isOwn: boolean): void;
}

/** The queue of an application. */
interface LocalRunMember {
  /** Whether runs of the application are queued for the session. */
  isAwaited(slot: string): boolean;
  /** Tries to start the next run of the session. */
  pump(slot: string): Promise<void>;
  /** Same for all sessions. */
  pumpAll(): Promise<void>;
}

/**
 * The state that applications of one process share when they use the same database. A run belongs to the application
 * that started it: only that one has its tools, so no other executes the run while that one is open. Followers, cancels
 * and answers of all these applications reach the run.
 */
export class LocalRunHub {
  readonly live = new LiveRunRegistry();
  /** Followers by run. */
  readonly listeners = new Map<string, Set<RunListener>>();
  private readonly buses = new Set<WokenBus>();
  /** Open applications by the `owner` id of their runs. */
  private readonly members = new Map<string, LocalRunMember>();

  /** @returns a function that ends the connection */
  connect(bus: WokenBus): () => void {
    this.buses.add(bus);
    return () => void this.buses.delete(bus);
  }

  wake(runId: string, by: WokenBus): void {
    for (const bus of this.buses) bus.woken(runId, bus === by);
  }

  join(node: string, member: LocalRunMember): void {
    this.members.set(node, member);
  }

  /** Removes an application; the others may now resume its unfinished runs, to free their sessions. */
  leave(node: string): void {
    this.members.delete(node);
    for (const member of this.members.values()) void member.pumpAll();
  }

  /** Whether an open application owns runs with this id. */
  hasMember(node: string): boolean {
    return this.members.has(node);
  }

  isAwaited(slot: string): boolean {
    for (const member of this.members.values()) if (member.isAwaited(slot)) return true;
    return false;
  }

  /** Called when the session is free, or its run waits for a decision. */
  async pump(slot: string): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.pump(slot)));
  }
}

/** The bus inside one process. A listener's exception is logged and affects no other listener. */
@Injectable()
export class LocalRunBus extends RunBus implements OnApplicationShutdown {
  private readonly logger = new Log(LocalRunBus.name);
  private readonly wakeListeners: WakeListener[] = [];
  private readonly disconnect: () => void;

  /** @param hub shared by the applications of this process that use the same database */
  constructor(readonly hub: LocalRunHub = new LocalRunHub()) {
    super(hub.live);
    this.disconnect = hub.connect(this);
  }

  /** Disconnects its listeners, as their application closes its database connection next. */
  onApplicationShutdown(): void {
    this.disconnect();
  }

  hasListeners(runId: string): boolean {
    return this.hub.listeners.has(runId);
  }

  publish(runId: string, item: RunItem): void {
    for (const listener of this.hub.listeners.get(runId) ?? []) {
      try {
        listener(item);
      } catch (error) {
        this.logger.error({ err: error, run_id: runId }, 'A run follower threw an error');
      }
    }
  }

  subscribe(runId: string, listener: RunListener): () => void {
    const { listeners: all } = this.hub;
    let listeners = all.get(runId);
    if (!listeners) all.set(runId, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && all.get(runId) === listeners) all.delete(runId);
    };
  }

  left(): void {
    // No other process executes runs.
  }

  wake(runId: string): void {
    this.hub.wake(runId, this);
  }

  onWake(listener: WakeListener): void {
    this.wakeListeners.push(listener);
  }

  /** Calls this application's listeners. @param isOwn whether this application woke the run */
  woken(runId: string, isOwn: boolean): void {
    for (const listener of this.wakeListeners) listener(runId, isOwn);
  }
}
