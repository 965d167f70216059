import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/index.js';

/** Hears which context is gone. */
export type ContextListener = (contextId: string) => void;

/** Tells whoever holds something for a context, as connections, that it is gone. */
@Injectable()
export class ContextClosings {
  private readonly logger = new Logger('ToolState');
  private readonly listeners = new Set<ContextListener>();

  /** Gives what ends the listening. */
  onClosed(listener: ContextListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Tells that a context was cleaned up or has expired; more often than once does no harm. Never throws. */
  closed(contextId: string): void {
    for (const listener of this.listeners) {
      try {
        listener(contextId);
      } catch (error) {
        this.logger.warn(`What is held for tool state ${contextId} could not be closed: ${messageOf(error)}`);
      }
    }
  }
}
