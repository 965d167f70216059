import { Logger } from '@nestjs/common';
import { AppConfig } from '../../config/index.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import { BullRunQueue, type TakeRun } from './bull-run-queue.js';
import { NodeRegistry } from './node.registry.js';
import { OpenRunStore } from './open-run.store.js';
import { queueOf, type RunRef } from './run-ref.types.js';

/** Queued runs are looked through in every so manieth sweep: it is only for what a queue has lost. */
const QUEUED_EVERY = 5;

/**
 * Puts into the queue what belongs there by the journal: the runs of dead processes, and queued runs that the queue has
 * lost (a flushed Redis, a process that died in between). The oldest living process does it for all.
 */
export class RunSweepService {
  private readonly logger = new Logger(RunSweepService.name);
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private sweeping: Promise<void> = Promise.resolve();
  private count = 0;

  constructor(
    private readonly open: OpenRunStore,
    private readonly nodes: NodeRegistry,
    private readonly queue: BullRunQueue,
    private readonly handlers: RunHandlerRegistry,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sweeps from now on.
   * @param take executes a run in this process
   * @param also what each process does for itself in every sweep
   */
  start(take: TakeRun, also: () => Promise<void>): void {
    const sweep = async () => {
      try {
        await also();
        if (this.nodes.isOldest()) await this.sweep(take);
      } catch (err) {
        if (this.isStopped) return;
        this.logger.warn({ err }, 'A sweep for runs that nobody runs failed; the next one tries again');
      }
      if (!this.isStopped) this.timer = setTimeout(next, this.config.cluster.checkMs).unref();
    };
    const next = () => void (this.sweeping = sweep());
    next();
  }

  /** Resolves when no sweep is active. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private async sweep(take: TakeRun): Promise<void> {
    const orphans = await this.orphans();
    const queued = this.count++ % QUEUED_EVERY === 0 ? await this.open.startable() : [];
    const isOutdated = (run: RunRef) => this.isOutdated(run);
    const runs = [...orphans, ...queued];
    await this.queue.add(runs.filter((run) => !isOutdated(run)));
    // Nobody can replay it any more: taken, it ends with an error that says so, and its session goes on.
    for (const run of runs.filter(isOutdated)) void take(run.id).catch(() => undefined);
  }

  /** A process that came after the list of living ones was read is no dead one. */
  private async orphans(): Promise<RunRef[]> {
    const found = await this.open.orphans(this.nodes.live());
    if (found.length === 0) return [];
    await this.nodes.refresh();
    const live = new Set(this.nodes.live());
    return found.filter(({ owner }) => owner === null || !live.has(owner));
  }

  /** Whether the run's loop is older than any that a living process runs; a newer one's processes may come back. */
  private isOutdated(run: RunRef): boolean {
    if (this.nodes.isServed(queueOf(run))) return false;
    const handler = this.handlers.all().find(({ kind }) => kind === run.kind);
    return handler !== undefined && run.loopVersion < Math.min(...handler.loopVersions);
  }
}
