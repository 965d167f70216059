import { Injectable } from '@nestjs/common';
import { AppError, Log } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { START } from './event/run-item.factory.js';
import { runPruned } from './retention/run-pruned.error.js';
import { RunBus, type RunListener } from './follow/run-bus.js';
import { RunCancelService } from './run-cancel.service.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunFollowService } from './follow/run-follow.service.js';
import { RunJournal } from './run-journal.js';
import { isOpen } from './run-record.mapper.js';
import { RunStartService } from './run-start.service.js';
import { RunExecutor } from './run.executor.js';
import type { RunRecord, RunStatus, StartRun } from './run.types.js';
import { ChildAnswerService } from './tree/child-answer.service.js';
import { ChildJoinService } from './tree/child-join.service.js';
import { ChildRunStore } from './tree/child-run.store.js';
import type { ChildCall, ChildStatus } from './tree/child-run.types.js';
import type { RunTree } from './tree/run-tree.types.js';

/**
 * The relations between runs of a tree. A parent waits for a running child on its own node. When the child waits for a
 * decision, the parent changes to `waiting` too, without a process, and resumes when the child has ended.
 */
@Injectable()
export class RunTreeService implements RunTree {
  /** Runs executed here that have started child runs. */
  private readonly parents = new Set<string>();

  constructor(
    executor: RunExecutor,
    private readonly journal: RunJournal,
    private readonly store: ChildRunStore,
    private readonly joins: ChildJoinService,
    private readonly answers: ChildAnswerService,
    private readonly cancels: RunCancelService,
  ) {
    executor.useRunTree(this);
  }

  join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStatus> {
    this.parents.add(parent.id);
    return this.joins.join(parent, call, signal);
  }

  remember(runId: string): void {
    this.parents.add(runId);
  }

  async settled(run: RunRecord, status: RunStatus): Promise<void> {
    const wasParent = this.parents.delete(run.id);
    if (status === 'waiting') return wasParent ? this.answers.answer(run.id) : undefined;
    if (status === 'queued') this.joins.postponed(run.id);
    if (isOpen(status)) return;
    if (run.lineage) await this.answers.answer(run.lineage.parentRunId);
    if (!wasParent) return;
    for (const child of await this.store.openOf(run.id)) await this.cancels.cancel(child);
  }

  async isOrphan({ lineage }: RunRecord): Promise<boolean> {
    if (!lineage) return false;
    const parent = await this.journal.find(lineage.parentRunId);
    return !parent || !isOpen(parent.status);
  }

  /** Requests the cancellation of a run. @returns false if it had ended */
  cancel(runId: string): Promise<boolean> {
    return this.cancels.cancel(runId);
  }

  /** Resumes every run that waits for an ended child, and cancels waiting runs whose parent has ended. */
  answerAll(isStopped: () => boolean): Promise<void> {
    return this.answers.answerAll(isStopped);
  }
}

/** A started run. */
export interface RunHandle {
  readonly id: string;
  /**
   * `started`: started at once. `queued`: waits in the queue. `replayed`: an idempotent replay, started by an earlier
   * request.
   */
  readonly kind: 'started' | 'queued' | 'replayed';
  /** The status when its execution ended; `queued` when it was handed over to the next start of the server. */
  readonly done: Promise<RunStatus>;
}

/** The public API of runs: start, look up, cancel. */
@Injectable()
export class RunService {
  private readonly logger = new Log(RunService.name);

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly starter: RunStartService,
    private readonly follower: RunFollowService,
    private readonly runTree: RunTreeService,
  ) {}

  /**
   * Journals a run and executes it at once; queues it when its session has a running run, or when there is no capacity.
   * @param listener receives all items of the run, from its first event on
   * @returns the run; with kind `replayed` the run of an earlier request with the same idempotency key
   * @throws AppError `SESSION_BUSY` when the session's run waits for a decision, `SHUTTING_DOWN`, `RUN_QUEUE_FULL`,
   *   `TENANT_QUEUE_FULL`, `RUN_RATE_LIMITED`, `IDEMPOTENCY_KEY_REUSED`
   */
  async start(start: StartRun, listener?: RunListener): Promise<RunHandle> {
    const unsubscribe = listener ? this.bus.subscribe(start.id, listener) : () => undefined;
    try {
      const started = await this.starter.start(start);
      if ('replayOf' in started) {
        unsubscribe();
        return { id: started.replayOf, kind: 'replayed', done: this.endOf(started.replayOf) };
      }
      const ended = started.done.finally(unsubscribe);
      // A caller that only follows the run ignores `done`; the executor logs the failure.
      ended.catch(() => undefined);
      return { ...started, done: ended };
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  /**
   * Refuses a request whose client would wait too long for capacity, before its body is read.
   * @throws AppError `RUN_QUEUE_FULL`
   */
  checkWait(): void {
    this.starter.checkWait();
  }

  /**
   * Journals a run as queued, to be executed on any node in queue order, without a waiting client.
   * @returns its id; with a known idempotency key the id of the earlier request's run
   * @throws AppError as `start`, except `SESSION_BUSY`
   */
  async submit(start: StartRun): Promise<Pick<RunHandle, 'id' | 'kind'>> {
    const started = await this.starter.submit(start);
    return 'replayOf' in started ? { id: started.replayOf, kind: 'replayed' } : { id: started.id, kind: 'queued' };
  }

  /** @throws AppError `RUN_NOT_FOUND`, also for a run that the principal may not see; `RUN_PRUNED` with the remaining summary */
  async get(principal: Principal, id: string): Promise<RunRecord> {
    const run = await this.journal.findOf(principal, id);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${id}".`);
    if (run.prunedAt !== null) throw runPruned(run);
    return run;
  }

  /**
   * Resumes the runs that earlier processes left unfinished. Call it once, when the application is ready. A shutdown
   * stops the recovery and waits until it has stopped.
   * @param which `own`: without runs of agents that this application does not have; another application of the process
   *   may have them
   */
  recover(which: 'all' | 'own' = 'all'): Promise<void> {
    return this.journal.database.onceOpen(() => this.recoverNow(which));
  }

  /** Resumes one unfinished run of an earlier process, in place of `recover`. The run continues in the background. */
  async resume(id: string): Promise<void> {
    const run = await this.journal.find(id);
    if (run && isOpen(run.status)) void this.dispatcher.resume(run);
  }

  private async recoverNow(which: 'all' | 'own'): Promise<void> {
    await this.dispatcher.recover(which);
    if (this.dispatcher.isClosing) return;
    await this.dispatcher.admit(() => this.runTree.answerAll(() => this.dispatcher.isClosing));
  }

  /**
   * Requests the cancellation of a run.
   * @throws AppError `RUN_NOT_FOUND`, `RUN_NOT_CANCELLABLE` when it has ended
   */
  async cancel(principal: Principal, id: string): Promise<RunRecord> {
    const run = await this.get(principal, id);
    if (await this.runTree.cancel(id)) return this.get(principal, id);
    const { status } = (await this.journal.find(id)) ?? run;
    throw new AppError('RUN_NOT_CANCELLABLE', `Run "${id}" has already ended: it is ${status}.`, {
      details: { run_status: status },
    });
  }

  /**
   * Cancels a run whose caller has disconnected. If this process executes it, no further tool is called, even if the
   * request to cancel cannot be journaled. An ended run is unchanged.
   */
  async leave(id: string): Promise<void> {
    this.dispatcher.cancel(id);
    try {
      await this.runTree.cancel(id);
    } catch (err) {
      this.logger.warn({ err, run_id: id }, 'Failed to journal the cancel of a run whose caller disconnected');
    }
  }

  /** The final status of a run on any node. */
  private async endOf(id: string): Promise<RunStatus> {
    for await (const _ of this.follower.open(id).items(START, new AbortController().signal));
    return (await this.journal.find(id))?.status ?? 'failed';
  }
}
