import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunConfig } from '../../config/index.js';
import { AppError, Log } from '../../errors/index.js';
import { newId } from '../../kernel/index.js';
import { refusalOf } from '../../persistence/index.js';
import { RunAdmissionService, RunCapacityRegistry } from '../admission/run-admission.service.js';
import { journalUnavailable } from '../relinquished.policy.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { RunJournal } from '../run-journal.js';
import { isOpen } from '../run-record.mapper.js';
import { RunLease } from '../run-lease.js';
import { sessionSlot } from '../run-statement.factory.js';
import { RunExecutor } from '../run.executor.js';
import type { RunOpening, RunRecord, RunStatus } from '../run.types.js';
import type { LocalRunBus } from './local-run-bus.js';
import { LocalRunQueue, type QueuedRun } from './local-run-queue.js';

/** The lease of an application in the one process that owns the database: no other process can claim its runs. */
@Injectable()
export class LocalRunLease extends RunLease {
  readonly node = `local-${newId()}`;

  isSure(): boolean {
    return true;
  }
}

/** Runs resumed at the same time by a recovery. */
const RECOVERY_CONCURRENCY = 50;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/**
 * Executes all runs in this process, which owns the database. A run with a waiting client starts at once; a second run
 * of the same session queues behind it. After a start it resumes all queued and running runs; at shutdown it waits for
 * running ones, then hands the rest over to the next start. When several applications of the process share the
 * database, each executes the runs that it started; the next application that starts resumes those of a closed one.
 */
@Injectable()
export class LocalRunDispatcher extends RunDispatcher implements BeforeApplicationShutdown {
  private readonly logger = new Log(LocalRunDispatcher.name);
  /** Outside of any request: another request's run may trigger a recovery. */
  private readonly outside = AsyncLocalStorage.snapshot();
  /** Whether `recover` has read the unfinished runs of earlier processes. */
  private hasRecovered = false;
  private readonly queue = new LocalRunQueue((queued) => this.admission.track(this.startQueued(queued)));

  constructor(
    private readonly journal: RunJournal,
    private readonly executor: RunExecutor,
    private readonly bus: LocalRunBus,
    private readonly admission: RunAdmissionService,
    private readonly capacity: RunCapacityRegistry,
    private readonly config: RunConfig,
  ) {
    super();
    bus.onWake((runId, isOwn) => {
      this.onWake(runId, isOwn).catch((err: unknown) =>
        this.logger.error({ err, run_id: runId }, 'Failed to handle the wake-up of a run'),
      );
    });
    bus.hub.join(this.node, this.queue);
  }

  async recover(which: 'all' | 'own' = 'all'): Promise<void> {
    if (this.admission.isClosing) return;
    const unfinished = await this.admission.track(this.journal.unfinished());
    this.hasRecovered = true;
    const found = unfinished.filter((run) => !this.isElsewhere(run));
    const runs = which === 'all' ? found : found.filter((run) => this.executor.serves(run));
    if (runs.length < found.length) this.logger.log(othersMessage(found.filter((run) => !runs.includes(run))));
    if (runs.length === 0) return;
    const crashed = runs.filter(({ status }) => status === 'running').length;
    this.logger.log(`Resuming ${runs.length} unfinished runs, ${crashed} of them interrupted by a crash`);
    const rest = runs[Symbol.iterator]();
    const worker = async () => {
      for (const run of rest) {
        if (this.admission.isClosing) return;
        await this.resumeUnfinished(run).catch(() => this.retry(run, FIRST_RETRY_MS));
      }
    };
    for (let i = 0; i < RECOVERY_CONCURRENCY; i++) void worker();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.admission.close();
    await this.executor.drain(this.config.shutdownTimeoutMs);
    for (const queued of this.queue.clear()) {
      this.executor.closeStreams(queued.run.id, 'SHUTTING_DOWN');
      queued.resolve('queued');
    }
    // Runs that have just ended may have started others.
    await this.admission.close();
    this.bus.hub.leave(this.node);
  }

  get isClosing(): boolean {
    return this.admission.isClosing;
  }

  admit<T>(begin: () => Promise<T>): Promise<T> {
    return this.admission.admit(begin);
  }

  isAwaited(run: Pick<RunRecord, 'tenant' | 'sessionId'>): boolean {
    const slot = sessionSlot(run);
    return slot !== null && this.bus.hub.isAwaited(slot);
  }

  execute(run: RunRecord, opening?: RunOpening): Promise<RunStatus> {
    return this.run(run, true, opening);
  }

  executeChild(run: RunRecord): void {
    this.capacity.exempt(run.id);
    // An exempt run always gets in.
    void this.capacity.acquire(run);
    this.run(run, true).catch(() => undefined);
  }

  adopt(run: RunRecord): void {
    if (this.admission.isClosing || this.executor.has(run.id)) return;
    this.capacity.exempt(run.id);
    if (this.queue.has(run.id)) void this.queue.pump(slotOf(run));
    else this.offer(run);
  }

  cancel(runId: string): void {
    this.executor.cancel(runId);
  }

  recheck(run: RunRecord): void {
    this.retry(run, FIRST_RETRY_MS);
  }

  offer(run: RunRecord): void {
    this.enqueue(run).catch(() => undefined);
  }

  enqueue(run: RunRecord): Promise<RunStatus> {
    return new Promise((resolve, reject) => {
      this.queue.add(slotOf(run), { run, resolve, reject });
    });
  }

  private run(run: RunRecord, isNew: boolean, opening?: RunOpening): Promise<RunStatus> {
    const execution = this.executor.execute(run, isNew, opening);
    void this.watch(run, execution);
    return execution;
  }

  /** Follow-up of an ended execution: retry, act on a late cancel, free the session. */
  private async watch(run: RunRecord, execution: Promise<RunStatus>): Promise<void> {
    try {
      if ((await execution) === 'waiting') this.bus.wake(run.id);
    } catch (error) {
      if (error instanceof AppError && error.code === 'JOURNAL_UNAVAILABLE') this.retry(run, FIRST_RETRY_MS);
    }
    this.capacity.release(run);
    await this.queue.pumpFull(() => !this.capacity.isFull);
    const slot = sessionSlot(run);
    if (slot !== null) await this.bus.hub.pump(slot);
  }

  private async startQueued(queued: QueuedRun): Promise<'started' | 'busy' | 'full' | 'gone'> {
    if (this.admission.isClosing) return 'busy';
    if (!(await this.capacity.acquire(queued.run))) return 'full';
    const outcome = await this.claim(queued);
    if (outcome !== 'started') this.capacity.release(queued.run);
    return outcome;
  }

  private async claim(queued: QueuedRun): Promise<'started' | 'busy' | 'gone'> {
    try {
      const { run, items } = await this.journal.claim(queued.run, Date.now());
      for (const item of items) this.bus.emit(run, item);
      queued.resolve(this.run(run, false));
      return 'started';
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === 'unique') return this.stayQueued(queued);
      if (refusal === 'rows') queued.resolve(this.statusOf(queued.run.id));
      else {
        queued.reject(journalUnavailable(queued.run.id, error));
        this.retry(queued.run, FIRST_RETRY_MS);
      }
      return 'gone';
    }
  }

  /**
   * A run behind one that waits for a decision stays in the queue, and its caller gets a response at once. A run behind
   * one that no open application executes would wait until the next start, so the abandoned run is resumed here.
   */
  private async stayQueued(queued: QueuedRun): Promise<'busy'> {
    const holder = await this.journal.openOf(queued.run);
    if (holder?.status === 'waiting') {
      this.executor.closeStreams(queued.run.id, 'SESSION_BUSY');
      queued.resolve('queued');
    } else if (holder && this.hasRecovered && this.isAbandoned(holder)) {
      this.resume(holder);
    }
    return 'busy';
  }

  private resume(run: RunRecord): void {
    this.resumeUnfinished(run).catch(() => this.retry(run, FIRST_RETRY_MS));
  }

  /** Resumes a queued or running run that no application executes; resolves at its end. */
  private async resumeUnfinished({ id }: RunRecord): Promise<void> {
    const run = await this.admission.track(this.journal.find(id));
    const isUnfinished = run?.status === 'queued' || run?.status === 'running';
    if (!isUnfinished || this.isElsewhere(run) || this.queue.has(id) || this.executor.has(id)) return;
    if (this.admission.isClosing) return;
    // The executor logs the outcome, and a journal failure is retried.
    await this.outside(() => this.enqueue(run)).catch(() => undefined);
  }

  /** After a journal failure: returns the run to the queue, without counting a crash, and resumes it later. */
  private retry(run: RunRecord, delayMs: number): void {
    const timer = setTimeout(() => {
      if (this.admission.isClosing) return;
      this.admission
        .track(this.journal.putBack(run))
        .then(() => this.resumeUnfinished(run))
        .catch(() => this.retry(run, Math.min(2 * delayMs, LAST_RETRY_MS)));
    }, delayMs);
    timer.unref();
  }

  private async statusOf(runId: string): Promise<RunStatus> {
    return (await this.journal.find(runId))?.status ?? 'cancelled';
  }

  /** The run was changed from outside: a cancel was requested, or an answer was given. */
  private async onWake(runId: string, isOwn: boolean): Promise<void> {
    const run = await this.admission.track(this.journal.find(runId));
    if (!run) return;
    const isCancelled = run.cancelRequestedAt !== null;
    if (run.status === 'running' && isCancelled) this.executor.cancel(run.id);
    else if (!isOpen(run.status)) this.queue.remove(run.id)?.resolve(run.status);
    else if (this.isResumedHere(run, isOwn)) await this.resumeWoken(run, isCancelled);
  }

  /** The run of a closed application is resumed by the application that woke it. */
  private isResumedHere(run: RunRecord, isOwn: boolean): boolean {
    if (this.admission.isClosing) return false;
    return run.owner === this.journal.node || (isOwn && this.isAbandoned(run));
  }

  private async resumeWoken(run: RunRecord, isCancelled: boolean): Promise<void> {
    if (run.status === 'queued' && !this.queue.has(run.id)) await this.enqueue(run);
    else if (run.status === 'waiting' && isCancelled) await this.cancelWaiting(run);
  }

  /** Whether another open application of this process executes the run, or will. */
  private isElsewhere({ owner }: RunRecord): boolean {
    return owner !== null && owner !== this.journal.node && this.bus.hub.hasMember(owner);
  }

  /** Whether the application that executed the run last, or was to, is closed or was in another process. */
  private isAbandoned({ owner }: RunRecord): boolean {
    return owner === null || !this.bus.hub.hasMember(owner);
  }

  private get node(): string {
    return this.journal.node ?? '';
  }

  /** The cancel was requested while the run changed to waiting. */
  private async cancelWaiting(run: RunRecord): Promise<void> {
    await this.admission.track(this.journal.cancelWaiting(run, Date.now()));
    await this.resumeUnfinished(run);
  }
}

/** The queue of a run: that of its session, or its own. */
function slotOf(run: RunRecord): string {
  return sessionSlot(run) ?? `run\n${run.id}`;
}

function othersMessage(runs: readonly RunRecord[]): string {
  const agents = [...new Set(runs.map(({ agent }) => `"${agent}"`))].join(', ');
  return `${runs.length} unfinished runs of ${agents} are left to an application that has these agents`;
}
