import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { LiveRunRegistry, RunBus, type RunListener, type WakeListener } from '../run-bus.js';
import type { RunItem } from '../run-item.factory.js';

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
