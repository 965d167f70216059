import { Log } from '../../errors/index.js';
import type { RunConfig } from '../../config/namespaces/index.js';
import { RunHandlerRegistry } from '../run-handler.registry.js';
import type { RunOfferService } from './run-offer.service.js';
import type { TakeRun } from './run-queue.js';
import { NodeRegistry } from './node.registry.js';
import { OpenRunStore } from './open-run.store.js';
import { queueOf, type RunRef } from './run-ref.types.js';
import type { SuspectRunService } from './suspect-run.service.js';

/** Sweeps per check of queued runs, which only finds runs that a queue has lost. */
const QUEUED_EVERY = 5;

/**
 * Enqueues runs that the journal says are missing in the queue: runs of dead processes, and queued runs that the queue
 * has lost (a flushed Redis, a crash between commit and enqueue). The oldest live process that can enqueue does it for all.
 */
export class RunSweepService {
  private readonly logger = new Log(RunSweepService.name);
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private sweeping: Promise<void> = Promise.resolve();
  private count = 0;

  constructor(
    private readonly open: OpenRunStore,
    private readonly nodes: NodeRegistry,
    private readonly offers: RunOfferService,
    private readonly handlers: RunHandlerRegistry,
    private readonly suspects: SuspectRunService,
    private readonly config: RunConfig,
  ) {}

  /**
   * Starts sweeping.
   * @param take executes a run in this process
   * @param also the work of every process in each sweep
   */
  start(take: TakeRun, also: () => Promise<void>): void {
    const sweep = async () => {
      try {
        await also();
        await this.offers.checkQueue();
        if (this.nodes.isSweeper()) await this.sweep(take);
      } catch (err) {
        if (this.isStopped) return;
        this.logger.warn({ err }, 'Sweep for orphaned runs failed; retrying at the next sweep');
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
    const queued = this.count++ % QUEUED_EVERY === 0 ? await this.open.startable(Date.now()) : [];
    const isOutdated = (run: RunRef) => this.isOutdated(run);
    const runs = [...orphans, ...queued];
    await this.offers.offer(runs.filter((run) => !isOutdated(run)));
    // No live process can replay it: executed here, it ends with an error, and its session is free.
    for (const run of runs.filter(isOutdated)) void take(run.id).catch(() => undefined);
  }

  /** Refreshes the list of live processes: one that joined after the list was read is not dead. */
  private async orphans(): Promise<RunRef[]> {
    const found = await this.open.orphans(this.nodes.live());
    if (found.length === 0) return [];
    await this.nodes.refresh();
    const live = new Set(this.nodes.live());
    const orphans = found.filter(({ owner }) => owner === null || !live.has(owner));
    for (const owner of new Set(orphans.map((run) => run.owner))) {
      if (owner !== null) await this.suspects.record(owner);
    }
    return orphans;
  }

  /** Whether the run's loop is older than any that a live process supports; processes with a newer loop may return. */
  private isOutdated(run: RunRef): boolean {
    if (this.nodes.isServed(queueOf(run))) return false;
    const handler = this.handlers.all().find(({ kind }) => kind === run.kind);
    return handler !== undefined && run.loopVersion < Math.min(...handler.loopVersions);
  }
}
