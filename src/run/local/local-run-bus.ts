import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { RunBus, type RunListener, type WakeListener } from '../run-bus.js';
import type { RunItem } from '../run-item.factory.js';
import { LocalRunHub } from './local-run-hub.registry.js';

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
