import { isDoneWithin } from '../../kernel/index.js';
import type { NodeRegistry } from './node.registry.js';
import type { RunQueue, TakeRun } from './run-queue.js';
import type { RunRef } from './run-ref.types.js';

/** Longest wait for the queue, in ms. */
const ENQUEUE_MS = 1_000;
/** Interval in which this process tries to start runs that it could not enqueue, in ms. */
const RETRY_MS = 250;
/** Runs that this process tries to start per interval. */
const AT_ONCE = 50;

/**
 * Passes runs to the queue. While the queue is unavailable, this process executes the runs that it was to enqueue; other
 * processes learn that it cannot enqueue, and one of them does the work of the sweep.
 */
export class RunOfferService {
  private readonly pending = new Map<string, RunRef>();
  /** Ids of the pending runs with an attempt in flight. */
  private readonly starting = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private take: TakeRun | null = null;
  private serves: (run: RunRef) => boolean = () => false;

  constructor(
    private readonly queue: RunQueue,
    private readonly nodes: NodeRegistry,
  ) {}

  /** @param serves whether this process can replay a run */
  start(take: TakeRun, serves: (run: RunRef) => boolean): void {
    this.take = take;
    this.serves = serves;
  }

  stop(): void {
    this.take = null;
    clearTimeout(this.timer);
  }

  /** Enqueues runs, or executes them here. */
  async offer(runs: readonly RunRef[]): Promise<void> {
    if (runs.length === 0) return;
    const added = this.queue.add(runs);
    if (await this.isEnqueued(added)) return;
    for (const run of runs) if (this.serves(run)) this.pending.set(run.id, run);
    // A queue that was only slow has the runs now, and starts them by priority.
    void added.then(
      () => this.enqueued(runs),
      () => undefined,
    );
    this.startPending();
  }

  /** Finds out whether the queue is available again. */
  async checkQueue(): Promise<void> {
    if ((this.nodes.isCutOff || this.queue.outage.isOpen) && (await this.queue.answers())) this.report(true);
  }

  private async isEnqueued(added: Promise<void>): Promise<boolean> {
    let cause: unknown = new Error('it does not answer');
    const noted = added.catch((error: unknown) => {
      cause = error;
      throw error;
    });
    const isDone = await isDoneWithin(ENQUEUE_MS, noted);
    this.report(isDone, cause);
    return isDone;
  }

  private enqueued(runs: readonly RunRef[]): void {
    for (const { id } of runs) this.pending.delete(id);
    this.report(true);
  }

  private report(isAvailable: boolean, cause?: unknown): void {
    this.nodes.isCutOff = !isAvailable;
    if (isAvailable) this.queue.outage.recovered();
    else this.queue.outage.failed(cause);
  }

  private startPending(): void {
    const { take } = this;
    if (!take || this.pending.size === 0) return;
    const free = [...this.pending.values()].filter(({ id }) => !this.starting.has(id));
    for (const run of free.slice(0, AT_ONCE)) {
      this.starting.add(run.id);
      // A sweep finds a run whose journal is unavailable.
      void take(run.id)
        .catch(() => 'done')
        .then((outcome) => this.started(run, outcome === 'full'));
    }
    this.schedule();
  }

  private started(run: RunRef, isFull: boolean): void {
    this.starting.delete(run.id);
    // Its next attempt comes after those of the others.
    if (this.pending.delete(run.id) && isFull) this.pending.set(run.id, run);
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.startPending(), RETRY_MS).unref();
  }
}
