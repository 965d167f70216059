import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { OutgoingClient, type OutgoingOptions } from '../../security/egress/index.js';
import { ContextClosings } from '../../tool-state/index.js';

/** The connections of one context. */
interface Held {
  readonly options: OutgoingOptions;
  readonly client: OutgoingClient;
  /** Open calls. */
  calls: number;
  isClosed: boolean;
  idle?: NodeJS.Timeout;
}

/** Connection pools in this process, one per tool context; a pool is closed together with its context. */
@Injectable()
export class ContextConnections implements OnApplicationShutdown {
  private readonly held = new Map<string, Held>();
  private readonly closing = new Set<Promise<void>>();
  private readonly stopListening: () => void;
  private isShutDown = false;

  /** @param client supplies the rules of outgoing calls */
  constructor(
    private readonly client: OutgoingClient,
    closings: ContextClosings,
  ) {
    this.stopListening = closings.onClosed((id) => this.close(id));
  }

  /** Number of contexts with open pools. */
  get size(): number {
    return this.held.size;
  }

  /**
   * Runs `work` with a context's connections, which stay open for the idle time-out.
   * @throws AppError `SHUTTING_DOWN`; `TOOL_FAILED` if the context closes during the call; the error of `work`
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
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down; no further call is possible.');
    }
    const before = this.held.get(contextId);
    if (before?.options === options) return before;
    // The tool was registered again with other options.
    if (before) this.close(contextId);
    const held = { options, client: this.client.apart(options), calls: 0, isClosed: false };
    this.held.set(contextId, held);
    return held;
  }

  /** Closes the pool once all its connections have reached the idle time-out. */
  private closeWhenIdle(contextId: string, held: Held): void {
    const { isPersistent = true, idleMs = 0 } = held.options;
    if (!isPersistent) return this.close(contextId);
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
  const message = 'The tool session was closed during the call, together with its connections.';
  return new AppError('TOOL_FAILED', message, { cause });
}
