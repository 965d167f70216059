import { type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, Log } from '../../errors/index.js';
import { RunBus } from '../follow/run-bus.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { RunJournal } from '../run-journal.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunOpening, RunRecord, RunStatus } from '../run.types.js';
import { AwaitedRunRegistry } from './awaited-run.registry.js';
import { ClusterService } from './cluster.service.js';
import { OpenRunStore } from './open-run.store.js';
import type { RunRef } from './run-ref.types.js';
import { RunTakeService } from './run-take.service.js';

/** Retry delay of a run whose journal was unavailable, or of a child run for which there was no capacity, in ms. */
const RETRY_MS = 1_000;
/** Head start of the process that holds the connection of a session's next run, in ms. */
const OTHERS_FIRST_MS = 150;

/**
 * Executes runs on many processes over one database. A run with a waiting client executes on the node of that
 * connection; all others go through the queue, to a node with free capacity. The journal decides which node may write:
 * a claim raises the epoch.
 */
export class BullRunDispatcher extends RunDispatcher implements BeforeApplicationShutdown {
  private readonly logger = new Log(BullRunDispatcher.name);
  /** Pending background work; a shutdown waits for it. */
  private readonly background = new Set<Promise<void>>();
  /** Runs that this process owned in the last sweep without executing them. */
  private lostBefore = new Set<string>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly cluster: ClusterService,
    private readonly taker: RunTakeService,
    private readonly open: OpenRunStore,
    private readonly awaited: AwaitedRunRegistry,
  ) {
    super();
    bus.onWake((runId, isOwn) => this.inBackground(runId, this.onWake(runId, isOwn)));
    taker.onExecution((run, execution) => this.inBackground(run.id, this.watch(run, execution)));
  }

  recover(): Promise<void> {
    return this.cluster.serve(
      (runId) => this.taker.take(runId),
      async () => {
        // The bus reports their ends, but may lose messages.
        await Promise.all(this.awaited.ids().map((runId) => this.refresh(runId)));
        await this.putBackLost();
      },
    );
  }

  resume(): Promise<void> {
    return Promise.resolve();
  }

  get isClosing(): boolean {
    return this.taker.isClosing;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.taker.close();
    await this.cluster.leave(async (timeoutMs) => {
      await this.taker.drain(timeoutMs);
      await Promise.all(this.background);
    });
  }

  async admit<T>(begin: () => Promise<T>, content = 0): Promise<T> {
    return this.taker.admit(async () => {
      await this.cluster.join();
      return begin();
    }, content);
  }

  isAwaited(run: Pick<RunRecord, 'tenant' | 'sessionId'>): Promise<boolean> {
    return this.open.isAwaited(run);
  }

  execute(run: RunRecord, opening?: RunOpening): Promise<RunStatus> {
    return this.taker.execute(run, true, opening);
  }

  executeChild(run: RunRecord): void {
    this.taker.executeChild(run);
  }

  adopt(run: RunRecord): void {
    this.inBackground(run.id, this.takeChild(run));
  }

  cancel(runId: string): void {
    this.taker.cancel(runId);
  }

  recheck(run: RunRecord): void {
    this.retryLater(run);
  }

  offer(run: RunRecord): void {
    this.inBackground(run.id, this.cluster.offer([run]));
  }

  enqueue(run: RunRecord): Promise<RunStatus> {
    const status = this.awaited.add(run);
    this.offer(run);
    return status;
  }

  /** Follow-up of an ended execution: retry, hand over, act on a late cancel, or start the session's next run. */
  private async watch(run: RunRecord, execution: Promise<RunStatus>): Promise<void> {
    try {
      const status = await execution;
      if (status === 'queued') return await this.offerWhenDue(run);
      if (status === 'waiting') this.bus.wake(run.id);
    } catch (error) {
      if (error instanceof AppError && error.code === 'JOURNAL_UNAVAILABLE') return this.retryLater(run);
    }
    await this.startNext(run);
  }

  /** A handed-over run is offered at once. A sweep of any process offers a postponed run if this process has ended. */
  private async offerWhenDue({ id }: RunRecord): Promise<void> {
    const run = await this.journal.find(id);
    if (run?.status !== 'queued') return;
    if (!this.taker.postponed.add(run, () => this.inBackground(id, this.offerEarly(run))))
      await this.cluster.offer([run]);
  }

  private async offerEarly(run: RunRecord): Promise<void> {
    await this.open.release(run.id);
    await this.cluster.offer([run]);
  }

  private async takeChild(run: RunRecord): Promise<void> {
    if (run.notBefore !== null) await this.open.release(run.id);
    if ((await this.taker.takeChild(run.id)) === 'done') return;
    setTimeout(() => this.adopt({ ...run, notBefore: null }), RETRY_MS).unref();
  }

  /**
   * The session is free, or its run waits for a decision: starts its next run, on the node of its connection if it has
   * one.
   */
  private async startNext(run: RunRecord): Promise<void> {
    if (run.sessionId === null || this.taker.isClosing) return;
    const next = await this.open.nextOf(run);
    if (!next) return;
    this.bus.wake(next.id);
    if (!this.cluster.serves(next)) return this.cluster.offer([next]);
    setTimeout(() => this.inBackground(next.id, this.takeOrOffer(next)), OTHERS_FIRST_MS).unref();
  }

  private async takeOrOffer(run: RunRef): Promise<void> {
    if ((await this.taker.take(run.id)) === 'full') await this.cluster.offer([run]);
  }

  /** Returns the run to the queue without counting a crash: no other node would claim it, as this owner is alive. */
  private retryLater(run: RunRecord): void {
    if (this.taker.isClosing) return;
    const retry = async () => {
      await this.journal.putBack(run);
      await this.cluster.offer([run]);
    };
    setTimeout(() => void retry().catch(() => this.retryLater(run)), RETRY_MS).unref();
  }

  /**
   * After a broken connection it is unknown whether a claim or a start was committed, so this process may own a run
   * that it does not execute. Such a run returns to the queue if two sweeps in a row find it.
   */
  private async putBackLost(): Promise<void> {
    const owned = await this.open.ownedBy(this.journal.node ?? '');
    const lost = owned.filter(({ id }) => !this.taker.has(id));
    for (const run of lost.filter(({ id }) => this.lostBefore.has(id))) {
      await this.journal.putBack(run);
      await this.cluster.offer([run]);
    }
    this.lostBefore = new Set(lost.map(({ id }) => id));
  }

  /** The run changed: a cancel was requested, an answer was given, or its session is free. */
  private async onWake(runId: string, isOwn: boolean): Promise<void> {
    if (isOwn || this.taker.has(runId) || this.awaited.has(runId)) await this.refresh(runId);
  }

  private async refresh(runId: string): Promise<void> {
    const run = await this.journal.find(runId);
    if (!run) return;
    const isCancelled = run.cancelRequestedAt !== null;
    if (!isOpen(run.status)) this.awaited.settle(runId, run.status);
    else if (run.status === 'running' && isCancelled) this.taker.cancel(runId);
    else if (run.status === 'waiting' && isCancelled) await this.cancelWaiting(run);
    else if (run.status === 'queued' && this.awaited.has(runId)) await this.takeOrOffer(run);
    else if (run.status === 'queued') await this.cluster.offer([run]);
  }

  /** The cancel was requested while the run changed to waiting. */
  private async cancelWaiting(run: RunRecord): Promise<void> {
    await this.journal.cancelWaiting(run, Date.now());
    await this.cluster.offer([run]);
  }

  private inBackground(runId: string, work: Promise<void>): void {
    const done = work
      .catch((err: unknown) => {
        if (this.taker.isClosing) return;
        this.logger.warn({ err, run_id: runId }, 'Run recovery deferred to the next sweep');
      })
      .finally(() => this.background.delete(done));
    this.background.add(done);
  }
}
