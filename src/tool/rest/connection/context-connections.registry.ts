import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../../common/index.js';
import { OutgoingClient, type OutgoingOptions } from '../../../security/index.js';
import { ContextClosings } from '../../state/context-closing.registry.js';

/** The connections of one context. */
interface Held {
  readonly options: OutgoingOptions;
  readonly client: OutgoingClient;
  /** Calls that go on. */
  calls: number;
  isClosed: boolean;
  idle?: NodeJS.Timeout;
}

/** The connections of tools' contexts, each of which has its own; they are of this process, and go with the context. */
@Injectable()
export class ContextConnections implements OnApplicationShutdown {
  private readonly held = new Map<string, Held>();
  private readonly closing = new Set<Promise<void>>();
  private readonly stopListening: () => void;
  private isShutDown = false;

  /** @param client says which places may be called */
  constructor(
    private readonly client: OutgoingClient,
    closings: ContextClosings,
  ) {
    this.stopListening = closings.onClosed((id) => this.close(id));
  }

  /** How many contexts have some. */
  get size(): number {
    return this.held.size;
  }

  /**
   * Calls by a context's connections, which are kept for its next call as long as an idle connection is.
   * @throws AppError `SHUTTING_DOWN`; `TOOL_FAILED` when the context ends before the call does; what `work` throws
   */
  async use<T>(contextId: string, options: OutgoingOptions, work: (client: OutgoingClient) => Promise<T>): Promise<T> {
    const held = this.open(contextId, options);
    clearTimeout(held.idle);
    held.calls++;
    try {
      return await work(held.client);
    } catch (error) {
      throw held.isClosed && !this.isShutDown ? sessionEnded(error) : error;
    } finally {
      held.calls--;
      if (held.calls === 0 && !held.isClosed) this.closeWhenIdle(contextId, held);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    this.stopListening();
    for (const id of this.held.keys()) this.close(id);
    await Promise.all(this.closing);
  }

  private open(contextId: string, options: OutgoingOptions): Held {
    if (this.isShutDown) {
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down; nothing further is called.');
    }
    const before = this.held.get(contextId);
    if (before?.options === options) return before;
    // The tool was declared anew.
    if (before) this.close(contextId);
    const held = { options, client: this.client.apart(options), calls: 0, isClosed: false };
    this.held.set(contextId, held);
    return held;
  }

  /** None of its connections outlives that. */
  private closeWhenIdle(contextId: string, held: Held): void {
    const { isKept = true, idleMs = 0 } = held.options;
    if (!isKept) return this.close(contextId);
    held.idle = setTimeout(() => this.close(contextId), idleMs).unref();
  }

  private close(contextId: string): void {
    const held = this.held.get(contextId);
    if (!held) return;
    clearTimeout(held.idle);
    held.isClosed = true;
    this.held.delete(contextId);
    const closed = held.client.close().finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }
}

function sessionEnded(cause: unknown): AppError {
  const message = 'The session of the tool ended before the call did, and its connections with it.';
  return new AppError('TOOL_FAILED', message, { cause });
}
