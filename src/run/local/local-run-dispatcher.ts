import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { refusalOf } from '../../persistence/index.js';
import { RunBus } from '../run-bus.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { RunExecutor } from '../run.executor.js';
import { isOpen, RunJournal } from '../run-journal.js';
import { sessionSlot } from '../run-statement.factory.js';
import type { RunRecord, RunStatus } from '../run.types.js';
import { LocalRunQueue, type QueuedRun } from './local-run-queue.js';

/**
 * Runs everything in this process, which owns the database: a run that somebody waits for starts at once, a second
 * one in the same session queues behind it. At start it runs again whatever is queued or running; at shutdown it
 * waits for what runs, then hands the rest over to the next start.
 */
@Injectable()
export class LocalRunDispatcher extends RunDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(LocalRunDispatcher.name);
  private readonly queue = new LocalRunQueue((queued) => this.startQueued(queued));
  private isClosing = false;
  /** Runs that were let in and are being journaled. */
  private readonly admitted = new Set<Promise<unknown>>();

  constructor(
    private readonly journal: RunJournal,
    private readonly executor: RunExecutor,
    private readonly bus: RunBus,
    private readonly config: AppConfig,
  ) {
    super();
    bus.onWake((runId) => void this.onWake(runId).catch((error: unknown) => this.logger.error(error)));
  }

  async onApplicationBootstrap(): Promise<void> {
    const runs = await this.journal.unfinished();
    const crashed = runs.filter((run) => run.status === 'running').length;
    if (runs.length > 0)
      this.logger.log(`Going on with ${runs.length} unfinished runs, ${crashed} of them cut off by a crash`);
    for (const run of runs) {
      this.enqueue(run).catch((err: unknown) => this.logger.error({ err, run_id: run.id }, 'A run could not go on'));
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isClosing = true;
    await Promise.allSettled(this.admitted);
    await this.executor.drain(this.config.shutdownTimeoutMs);
    for (const queued of this.queue.clear()) {
      this.executor.closeStreams(queued.run.id, 'SHUTTING_DOWN');
      queued.resolve('queued');
    }
  }

  async admit<T>(begin: () => Promise<T>): Promise<T> {
    if (this.isClosing) {
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down and takes no new runs; try again in a moment.', {
        isRetryable: true,
      });
    }
    const begun = begin();
    this.admitted.add(begun);
    try {
      return await begun;
    } finally {
      this.admitted.delete(begun);
    }
  }

  isAwaited(slot: string): boolean {
    return this.queue.isAwaited(slot);
  }

  execute(run: RunRecord): Promise<RunStatus> {
    const execution = this.executor.execute(run);
    const slot = sessionSlot(run);
    if (slot !== null) void this.freeAfter(execution, slot);
    return execution;
  }

  enqueue(run: RunRecord): Promise<RunStatus> {
    return new Promise((resolve, reject) => {
      this.queue.add(sessionSlot(run) ?? `run\n${run.id}`, { run, resolve, reject });
    });
  }

  private async freeAfter(execution: Promise<RunStatus>, slot: string): Promise<void> {
    await execution.catch(() => undefined);
    await this.queue.pump(slot);
  }

  private async startQueued(queued: QueuedRun): Promise<'started' | 'busy' | 'gone'> {
    if (this.isClosing) return 'busy';
    try {
      const { run, items } = await this.journal.claim(queued.run, Date.now());
      for (const item of items) this.bus.publish(run.id, item);
      queued.resolve(this.execute(run));
      return 'started';
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === 'unique') return 'busy';
      if (refusal === 'rows') queued.resolve(this.statusOf(queued.run.id));
      else queued.reject(error);
      return 'gone';
    }
  }

  private async statusOf(runId: string): Promise<RunStatus> {
    return (await this.journal.find(runId))?.status ?? 'cancelled';
  }

  /** Something about the run changed from outside: a cancel was requested, or an answer was given. */
  private async onWake(runId: string): Promise<void> {
    const run = await this.journal.find(runId);
    if (!run) return;
    if (run.status === 'queued' && !this.queue.has(run.id)) await this.enqueue(run);
    else if (run.status === 'running' && run.cancelRequestedAt !== null) this.executor.cancel(run.id);
    else if (!isOpen(run.status)) this.queue.remove(run.id)?.resolve(run.status);
  }
}
