import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunConfig } from '../../config/namespaces/index.js';
import { AppError, Log } from '../../errors/index.js';
import type { HeapReservation } from '../../kernel/index.js';
import { refusalOf } from '../../persistence/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { RunAdmissionService } from '../admission/run-admission.service.js';
import { RunCapacityRegistry } from '../admission/run-capacity.registry.js';
import { journalUnavailable } from '../context/execution-end.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { RunJournal } from '../run-journal.js';
import { isOpen, withoutInput } from '../run-record.mapper.js';
import { sessionSlot } from '../run-statement.factory.js';
import { RunExecutor } from '../run.executor.js';
import type { RunHead, RunOpening, RunRecord, RunStatus } from '../run.types.js';
import type { LocalRunBus } from '../follow/run-bus.js';
import { LocalRunRecovery, othersMessage } from './local-run-recovery.js';
import { LocalRunQueue, type QueuedRun, type StartQueued } from './local-run-queue.js';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2_000;

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
  private readonly recovery: LocalRunRecovery;
  private readonly queue = new LocalRunQueue(
    (queued) => this.admission.track(this.startQueued(queued)),
    () => !this.capacity.isFull,
  );

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
    bus.hub.join(journal.node, this.queue);
    this.recovery = new LocalRunRecovery(journal, bus, this);
  }

  async recover(which: 'all' | 'own' = 'all'): Promise<void> {
    if (this.admission.isClosing) return;
    const unfinished = await this.admission.track(this.journal.unfinished());
    this.hasRecovered = true;
    const found = unfinished.filter((run) => !this.isElsewhere(run));
    const runs = which === 'all' ? found : found.filter((run) => this.executor.serves(run));
    if (runs.length < found.length) this.logger.log(othersMessage(found.filter((run) => !runs.includes(run))));
    if (runs.length > 0) await this.admission.track(this.recovery.start(runs));
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
    this.bus.hub.leave(this.journal.node);
  }

  get isClosing(): boolean {
    return this.admission.isClosing;
  }

  admit<T>(begin: () => Promise<T>, content = 0): Promise<T> {
    return this.admission.admit(begin, content);
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
    if (!this.queue.has(run.id)) this.offer(run);
    this.executor.postponed.release(run.id);
    void this.queue.pump(LocalRunQueue.slotOf(run));
  }

  cancel(runId: string): void {
    this.executor.cancel(runId);
  }

  recheck(run: RunHead): void {
    this.retry(run, FIRST_RETRY_MS);
  }

  offer(run: RunHead): void {
    this.enqueue(run).catch(() => undefined);
  }

  enqueue(given: RunHead): Promise<RunStatus> {
    const run = withoutInput(given);
    const slot = LocalRunQueue.slotOf(run);
    this.executor.postponed.add(run, () => void this.queue.pump(slot));
    return new Promise((resolve, reject) => {
      this.queue.add(slot, { run, resolve, reject });
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
      const status = await execution;
      if (status === 'waiting') this.bus.wake(run.id);
      else if (status === 'queued') void this.resume(run);
    } catch (error) {
      if (error instanceof AppError && error.code === 'JOURNAL_UNAVAILABLE') this.retry(run, FIRST_RETRY_MS);
    }
    this.capacity.release(run);
    await this.queue.pumpFull();
    if (this.queue.isFull) this.capacity.queueWaits();
    const slot = sessionSlot(run);
    if (slot !== null) await this.bus.hub.pump(slot);
  }

  private async startQueued(queued: QueuedRun): ReturnType<StartQueued> {
    const { run } = queued;
    if (this.admission.isClosing || this.executor.postponed.has(run.id)) return 'busy';
    const reservation = await this.reserve(queued);
    if (reservation === 'gone') return 'gone';
    if (!reservation) return 'exhausted';
    try {
      if (!(await this.capacity.acquire(run))) return 'full';
      const outcome = await reservation.run(() => this.claim(queued));
      if (outcome !== 'started') this.capacity.release(run);
      return outcome;
    } finally {
      reservation.release();
    }
  }

  private async reserve(queued: QueuedRun): Promise<HeapReservation | null | 'gone'> {
    const reservation = this.admission.reserve(queued.run, (run) => this.journal.sizeOf(run));
    return reservation.catch((error: unknown) => this.abandon(queued, error));
  }

  private async claim(queued: QueuedRun): Promise<'started' | 'busy' | 'gone'> {
    try {
      const stored = await this.journal.find(queued.run.id);
      if (!stored) return this.leave(queued);
      const { run, items } = await this.journal.claim({ ...queued.run, input: stored.input }, Date.now());
      for (const item of items) this.bus.emit(run, item);
      queued.resolve(this.run(run, false));
      return 'started';
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === 'unique') return this.stayQueued(queued);
      return refusal === 'rows' ? this.leave(queued) : this.abandon(queued, error);
    }
  }

  /** The run was changed or deleted from outside. */
  private leave(queued: QueuedRun): 'gone' {
    queued.resolve(this.statusOf(queued.run.id));
    return 'gone';
  }

  /** The journal is unavailable: the run is tried again later. */
  private abandon(queued: QueuedRun, error: unknown): 'gone' {
    queued.reject(journalUnavailable(queued.run.id, error));
    this.retry(queued.run, FIRST_RETRY_MS);
    return 'gone';
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
      void this.resume(holder);
    }
    return 'busy';
  }

  /** Resumes an unfinished run; resolves at the end of its execution, or at once if it is postponed. */
  resume(run: RunHead): Promise<void> {
    return this.resumeUnfinished(run).catch((error: unknown) => this.retryAfter(error, run, FIRST_RETRY_MS));
  }

  /** Resumes a queued or running run that no application executes; resolves at its end. */
  private async resumeUnfinished({ id }: Pick<RunRecord, 'id'>): Promise<void> {
    const run = await this.admission.track(this.journal.find(id).then((found) => found && withoutInput(found)));
    const isUnfinished = run?.status === 'queued' || run?.status === 'running';
    if (!isUnfinished || this.isElsewhere(run) || this.queue.has(id) || this.executor.has(id)) return;
    if (this.admission.isClosing) return;
    // The executor logs the outcome, and a journal failure is retried.
    const ended = this.outside(() => this.enqueue(run)).catch(() => undefined);
    if (!this.executor.postponed.has(id)) await ended;
  }

  /** A run with damaged data has ended. */
  private retryAfter(error: unknown, run: RunHead, delayMs: number): void {
    if (!Cipher.isDamage(error)) this.retry(run, delayMs);
  }

  /** After a journal failure: returns the run to the queue, without counting a crash, and resumes it later. */
  private retry(run: RunHead, delayMs: number): void {
    const timer = setTimeout(() => {
      if (this.admission.isClosing) return;
      this.admission
        .track(this.journal.putBack(run))
        .then(() => this.resumeUnfinished(run))
        .catch((error: unknown) => this.retryAfter(error, run, Math.min(2 * delayMs, LAST_RETRY_MS)));
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
    else if (run.status === 'queued' && isCancelled) this.executor.postponed.release(run.id);
    else if (run.status === 'waiting' && isCancelled) await this.cancelWaiting(run);
  }

  /** Whether another open application of this process executes the run, or will. */
  private isElsewhere({ owner }: RunHead): boolean {
    return owner !== null && owner !== this.journal.node && this.bus.hub.hasMember(owner);
  }

  /** Whether the application that executed the run last, or was to, is closed or was in another process. */
  private isAbandoned({ owner }: RunHead): boolean {
    return owner === null || !this.bus.hub.hasMember(owner);
  }

  /** The cancel was requested while the run changed to waiting. */
  private async cancelWaiting(run: RunRecord): Promise<void> {
    await this.admission.track(this.journal.cancelWaiting(run, Date.now()));
    await this.resumeUnfinished(run);
  }
}
