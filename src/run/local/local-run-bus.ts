import { Injectable, Logger } from '@nestjs/common';
import { RunBus, type RunListener, type WakeListener } from '../run-bus.js';
import type { RunItem } from '../run-item.factory.js';

/** The bus inside one process. A listener that throws is told off in the log and disturbs nobody. */
@Injectable()
export class LocalRunBus extends RunBus {
  private readonly logger = new Logger(LocalRunBus.name);
  private readonly listeners = new Map<string, Set<RunListener>>();
  private readonly wakeListeners: WakeListener[] = [];

  hasListeners(runId: string): boolean {
    return this.listeners.has(runId);
  }

  publish(runId: string, item: RunItem): void {
    for (const listener of this.listeners.get(runId) ?? []) {
      try {
        listener(item);
      } catch (error) {
        this.logger.error({ err: error, run_id: runId }, 'A follower of a run threw');
      }
    }
  }

  subscribe(runId: string, listener: RunListener): () => void {
    let listeners = this.listeners.get(runId);
    if (!listeners) this.listeners.set(runId, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(runId) === listeners) this.listeners.delete(runId);
    };
  }

  wake(runId: string): void {
    for (const listener of this.wakeListeners) listener(runId, true);
  }

  onWake(listener: WakeListener): void {
    this.wakeListeners.push(listener);
  }
}
