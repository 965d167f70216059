import { Log, messageOf } from '../errors/index.js';
import { KeyedQueue } from '../persistence/index.js';
import type { ContextHolder } from '../tool/index.js';

interface Held<Instance> {
  readonly instance: Instance;
  /** Last snapshot of the instance, as JSON. */
  readonly known: string;
}

/**
 * The instances of one adapted tool in this process, by context. Beyond the limit the least recently used one is
 * released.
 */
export class InstanceHolder<Instance> implements ContextHolder {
  private readonly logger = new Log('ToolState');
  private readonly queue = new KeyedQueue();
  private readonly inUse = new Set<string>();
  private readonly held = new Map<string, Held<Instance>>();
  /** Disposals in progress. */
  private readonly endings = new Set<Promise<void>>();

  /** @param most maximum number of idle instances */
  constructor(
    private readonly dispose: (instance: Instance) => Promise<void>,
    private readonly most: number,
  ) {}

  /** Runs work that uses a context's instance, after earlier work of the same context. */
  async alone<T>(contextId: string, work: () => Promise<T>): Promise<T> {
    return this.queue.next(contextId, async () => {
      this.inUse.add(contextId);
      try {
        return await work();
      } finally {
        this.inUse.delete(contextId);
        this.makeRoom();
      }
    });
  }

  get(contextId: string): Instance | undefined {
    return this.held.get(contextId)?.instance;
  }

  knownTo(contextId: string): string | undefined {
    return this.held.get(contextId)?.known;
  }

  put(contextId: string, instance: Instance, known: string): void {
    this.held.delete(contextId);
    this.held.set(contextId, { instance, known });
  }

  /** Disposes of an instance. The caller must have exclusive use of it. */
  async drop(contextId: string): Promise<void> {
    const held = this.held.get(contextId);
    if (!held) return;
    this.held.delete(contextId);
    const ending = this.dispose(held.instance).catch((error: unknown) =>
      this.logger.warn(`Failed to dispose of the tool instance of state ${contextId}: ${messageOf(error)}`),
    );
    this.endings.add(ending);
    await ending.finally(() => this.endings.delete(ending));
  }

  release(contextId: string): void {
    if (!this.held.has(contextId) && !this.inUse.has(contextId)) return;
    void this.queue.next(contextId, () => this.drop(contextId));
  }

  /** Disposes of all instances, also those in use: it does not wait for calls. */
  async releaseAll(): Promise<void> {
    for (const contextId of this.held.keys()) void this.drop(contextId);
    await Promise.all(this.endings);
  }

  private makeRoom(): void {
    const tooMany = this.held.size - this.most;
    if (tooMany <= 0) return;
    const idle = [...this.held.keys()].filter((contextId) => !this.inUse.has(contextId));
    for (const contextId of idle.slice(0, tooMany)) this.release(contextId);
  }
}
