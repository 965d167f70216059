import { queueOf, type RunRef } from './run-ref.types.js';
import { RunQueue, type TakeRun } from './run-queue.js';

/** Delay before this process tries a run again for which it had no capacity, in ms. */
const FULL_RETRY_MS = 250;

/**
 * The queue of a process that ends when it is idle: it is no worker of the cluster, executes the runs that it enqueues,
 * and has no connection to a queue. Runs that it leaves are found by the sweep of another process.
 */
export class OwnRunQueue extends RunQueue {
  private readonly pending = new Map<string, RunRef>();
  private readonly names = new Set<string>();
  private take: TakeRun | null = null;

  override async start(names: readonly string[], earlier: readonly string[], take: TakeRun): Promise<void> {
    for (const name of [...names, ...earlier]) this.names.add(name);
    this.take = take;
    for (const run of this.pending.values()) this.takeSoon(run);
  }

  override async startEarlier(): Promise<void> {}

  override async add(runs: readonly RunRef[]): Promise<void> {
    for (const run of runs) {
      if (this.pending.has(run.id)) continue;
      this.pending.set(run.id, run);
      this.takeSoon(run);
    }
  }

  override async pause(): Promise<void> {
    this.take = null;
  }

  override async close(): Promise<void> {
    await this.pause();
  }

  private takeSoon(run: RunRef): void {
    setImmediate(() => void this.takeNow(run));
  }

  private async takeNow(run: RunRef): Promise<void> {
    const { take } = this;
    if (!take || !this.pending.delete(run.id) || !this.names.has(queueOf(run))) return;
    // A sweep finds a run whose journal is unavailable.
    const outcome = await take(run.id).catch(() => 'done');
    if (outcome === 'full') setTimeout(() => void this.add([run]), FULL_RETRY_MS).unref();
  }
}
