import { AsyncLocalStorage } from 'node:async_hooks';
import { sessionSlot } from '../run-statement.factory.js';
import type { RunHead, RunStatus } from '../run.types.js';

/** Delay of a further start of a run for which the heap has no space, in ms. */
const HEAP_RETRY_MS = 250;

export interface QueuedRun {
  readonly run: RunHead;
  resolve(status: RunStatus | Promise<RunStatus>): void;
  reject(error: unknown): void;
}

/**
 * Starts a run. `busy` (another run holds the session), `full` (no capacity) and `exhausted` (no heap) keep it at the head
 * of its queue; `gone` means it can never start.
 */
export type StartQueued = (queued: QueuedRun) => Promise<'started' | 'busy' | 'full' | 'exhausted' | 'gone'>;

/** A run, and the async context of the request that queued it. */
interface Waiting {
  readonly queued: QueuedRun;
  readonly inContext: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * Runs that wait for their session, in order, one queue per session. Each starts in the async context of its own request:
 * the end of another request's run starts it, and a tool must not see that one's `AsyncLocalStorage`.
 */
export class LocalRunQueue {
  private readonly queues = new Map<string, Waiting[]>();
  /** Sessions whose first queued run is being started; `true` if the start must be repeated. */
  private readonly pumping = new Map<string, boolean>();
  /** Sessions whose first queued run waits only for capacity or heap. */
  private readonly full = new Set<string>();
  /** Set while the heap had no space for a run. */
  private exhausted: NodeJS.Timeout | undefined;

  /** @param hasCapacity whether there may be capacity */
  constructor(
    private readonly start: StartQueued,
    private readonly hasCapacity: () => boolean,
  ) {}

  /** The queue of a run: that of its session, or its own. */
  static slotOf(run: RunHead): string {
    return sessionSlot(run) ?? `run\n${run.id}`;
  }

  /** Adds a run at the end. A run that was started before goes first, as it still holds its session. */
  add(slot: string, queued: QueuedRun): void {
    const queue = this.queues.get(slot);
    const waiting = { queued, inContext: AsyncLocalStorage.snapshot() };
    if (!queue) this.queues.set(slot, [waiting]);
    else if (queued.run.epoch > 0) queue.unshift(waiting);
    else queue.push(waiting);
    void this.pump(slot);
  }

  /** Whether a run waits for this session. */
  isAwaited(slot: string): boolean {
    return this.queues.has(slot);
  }

  has(runId: string): boolean {
    for (const queue of this.queues.values()) if (queue.some(({ queued }) => queued.run.id === runId)) return true;
    return false;
  }

  /** Removes a run from its queue. */
  remove(runId: string): QueuedRun | null {
    for (const [slot, queue] of this.queues) {
      const at = queue.findIndex(({ queued }) => queued.run.id === runId);
      if (at < 0) continue;
      if (queue.length === 1) this.queues.delete(slot);
      return queue.splice(at, 1)[0]!.queued;
    }
    return null;
  }

  /** Removes all runs. */
  clear(): QueuedRun[] {
    const all = [...this.queues.values()].flat().map(({ queued }) => queued);
    this.queues.clear();
    this.full.clear();
    return all;
  }

  /** Tries the head of a session's queue; the end of the session's open run calls this again. */
  async pump(slot: string): Promise<void> {
    if (this.pumping.has(slot)) return void this.pumping.set(slot, true);
    do {
      this.pumping.set(slot, false);
      await this.tryHead(slot);
    } while (this.pumping.get(slot));
    this.pumping.delete(slot);
  }

  /** Tries the heads of all queues. */
  async pumpAll(): Promise<void> {
    await Promise.all([...this.queues.keys()].map((slot) => this.pump(slot)));
  }

  /** Whether runs wait only for capacity. */
  get isFull(): boolean {
    return this.full.size > 0;
  }

  /** Tries heads that wait for capacity, the most urgent first, while there may be capacity. */
  async pumpFull(): Promise<void> {
    for (const slot of this.fullInOrder()) {
      if (!this.hasCapacity() || this.exhausted) return;
      if (this.full.delete(slot)) await this.pump(slot);
    }
  }

  /** The end of a request, which starts no queued run, may free heap too. */
  private retryLater(): void {
    this.exhausted ??= setTimeout(() => {
      this.exhausted = undefined;
      void this.pumpFull();
    }, HEAP_RETRY_MS).unref();
  }

  private fullInOrder(): string[] {
    const heads = [...this.full].map((slot) => ({ slot, run: this.queues.get(slot)?.[0]?.queued.run }));
    heads.sort(
      (a, b) => (b.run?.priority ?? 0) - (a.run?.priority ?? 0) || (a.run?.createdAt ?? 0) - (b.run?.createdAt ?? 0),
    );
    return heads.map(({ slot }) => slot);
  }

  private async tryHead(slot: string): Promise<void> {
    const queue = this.queues.get(slot);
    const head = queue?.[0];
    if (!queue || !head) return void this.queues.delete(slot);
    // Added before the try, so that capacity released meanwhile is not missed.
    this.full.add(slot);
    const outcome = await head.inContext(() => this.start(head.queued));
    // If capacity was released meanwhile, `pumpFull` has removed the entry and requested another try.
    if (outcome === 'exhausted') this.retryLater();
    else if (outcome !== 'full') this.full.delete(slot);
    if (outcome === 'started' || outcome === 'gone') this.removeHead(slot, queue, head, outcome);
  }

  private removeHead(slot: string, queue: Waiting[], head: Waiting, outcome: 'started' | 'gone'): void {
    const at = queue.indexOf(head);
    if (at >= 0) queue.splice(at, 1);
    // A queue that became empty meanwhile may have been replaced.
    if (queue.length === 0 && this.queues.get(slot) === queue) this.queues.delete(slot);
    else if (outcome === 'gone') this.pumping.set(slot, true);
  }
}
