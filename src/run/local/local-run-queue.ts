import type { RunRecord, RunStatus } from '../run.types.js';

export interface QueuedRun {
  readonly run: RunRecord;
  resolve(status: RunStatus | Promise<RunStatus>): void;
  reject(error: unknown): void;
}

/**
 * Starts a run: `busy` when its session is held by another one and `full` when there is no room, so that it stays at the
 * head; `gone` when it cannot start any more.
 */
export type StartQueued = (queued: QueuedRun) => Promise<'started' | 'busy' | 'full' | 'gone'>;

/** Runs that wait for their session, in order, one queue a session. */
export class LocalRunQueue {
  private readonly queues = new Map<string, QueuedRun[]>();
  /** Sessions whose head is being tried; `true` when it must be tried once more. */
  private readonly pumping = new Map<string, boolean>();
  /** Sessions whose head waits for room alone. */
  private readonly full = new Set<string>();

  constructor(private readonly start: StartQueued) {}

  /** Adds a run at the end; one that was begun before holds its session already, so that nobody else can go first. */
  add(slot: string, queued: QueuedRun): void {
    const queue = this.queues.get(slot);
    if (!queue) this.queues.set(slot, [queued]);
    else if (queued.run.epoch > 0) queue.unshift(queued);
    else queue.push(queued);
    void this.pump(slot);
  }

  /** Whether a run waits for this session. */
  isAwaited(slot: string): boolean {
    return this.queues.has(slot);
  }

  has(runId: string): boolean {
    for (const queue of this.queues.values()) if (queue.some(({ run }) => run.id === runId)) return true;
    return false;
  }

  /** Takes a run out of its queue. */
  remove(runId: string): QueuedRun | null {
    for (const [slot, queue] of this.queues) {
      const at = queue.findIndex(({ run }) => run.id === runId);
      if (at < 0) continue;
      if (queue.length === 1) this.queues.delete(slot);
      return queue.splice(at, 1)[0]!;
    }
    return null;
  }

  /** Takes everything out. */
  clear(): QueuedRun[] {
    const all = [...this.queues.values()].flat();
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

  /** Tries those that wait for room, the most urgent first, as long as there may be some. */
  async pumpFull(hasRoom: () => boolean): Promise<void> {
    for (const slot of this.fullInOrder()) {
      if (!hasRoom()) return;
      if (this.full.delete(slot)) await this.pump(slot);
    }
  }

  private fullInOrder(): string[] {
    const heads = [...this.full].map((slot) => ({ slot, run: this.queues.get(slot)?.[0]?.run }));
    heads.sort(
      (a, b) => (b.run?.priority ?? 0) - (a.run?.priority ?? 0) || (a.run?.createdAt ?? 0) - (b.run?.createdAt ?? 0),
    );
    return heads.map(({ slot }) => slot);
  }

  private async tryHead(slot: string): Promise<void> {
    const queue = this.queues.get(slot);
    const head = queue?.[0];
    if (!queue || !head) return void this.queues.delete(slot);
    // Before it is tried: room that is given back meanwhile must not pass it by.
    this.full.add(slot);
    const outcome = await this.start(head);
    // Whoever gave room back meanwhile has taken it out, and it is tried once more.
    if (outcome !== 'full') this.full.delete(slot);
    if (outcome === 'started' || outcome === 'gone') this.takeOff(slot, queue, head, outcome);
  }

  private takeOff(slot: string, queue: QueuedRun[], head: QueuedRun, outcome: 'started' | 'gone'): void {
    const at = queue.indexOf(head);
    if (at >= 0) queue.splice(at, 1);
    // A queue that became empty meanwhile may have been replaced.
    if (queue.length === 0 && this.queues.get(slot) === queue) this.queues.delete(slot);
    else if (outcome === 'gone') this.pumping.set(slot, true);
  }
}
