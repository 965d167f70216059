import { Injectable } from '@nestjs/common';
import { Log, messageOf } from '../errors/index.js';
import type { ContextListener } from '../tool/stateful/index.js';

/** Notifies holders of per-context resources, such as connections, that the context is closed. */
@Injectable()
export class ContextClosings {
  private readonly logger = new Log('ToolState');
  private readonly listeners = new Set<ContextListener>();

  /** Returns a function that removes the listener. */
  onClosed(listener: ContextListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Reports that a context was cleaned up or has expired; idempotent. Never throws. */
  closed(contextId: string): void {
    for (const listener of this.listeners) {
      try {
        listener(contextId);
      } catch (error) {
        this.logger.warn(`Failed to close the resources of tool state ${contextId}: ${messageOf(error)}`);
      }
    }
  }
}
