import { Injectable, Logger } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import { RunFamilyService } from './child/run-family.service.js';
import { START } from './follow/run-place.parser.js';
import { RunBus, type RunListener } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunFollowService } from './run-follow.service.js';
import { RunJournal } from './run-journal.js';
import { RunStartService } from './run-start.service.js';
import { runPruned } from './retention/run-pruned.error.js';
import type { RunRecord, RunStatus, StartRun } from './run.types.js';

/** A run that was started here. */
export interface RunHandle {
  readonly id: string;
  /** Whether it began at once, waits for its turn, or had been begun by the same request before. */
  readonly kind: 'begun' | 'queued' | 'twin';
  /** Its status when its execution ended; `queued` when it was handed over to the next start of the server. */
  readonly done: Promise<RunStatus>;
}

/** The public face of runs: start, look up, cancel. */
@Injectable()
export class RunService {
  private readonly logger = new Logger(RunService.name);

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly starter: RunStartService,
    private readonly follower: RunFollowService,
    private readonly family: RunFamilyService,
  ) {}

  /**
   * Journals a run and executes it at once; it queues when its session has a running run, or when there is no room.
   * @param listener gets everything the run tells, from its first event on
   * @returns the run; a twin, when the same request began it before, by its idempotency key
   * @throws AppError `SESSION_BUSY` when the session's run waits for a person, `SHUTTING_DOWN`, `RUN_QUEUE_FULL`,
   *   `TENANT_QUEUE_FULL`, `RUN_RATE_LIMITED`, `IDEMPOTENCY_KEY_REUSED`
   */
  async start(start: StartRun, listener?: RunListener): Promise<RunHandle> {
    const unsubscribe = listener ? this.bus.subscribe(start.id, listener) : () => undefined;
    try {
      const begun = await this.starter.start(start);
      if ('twinOf' in begun) {
        unsubscribe();
        return { id: begun.twinOf, kind: 'twin', done: this.endOf(begun.twinOf) };
      }
      const ended = begun.done.finally(unsubscribe);
      // Who only follows the run does not wait for its end, and its failure is logged where it happens.
      ended.catch(() => undefined);
      return { ...begun, done: ended };
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  /**
   * Journals a run as queued, to be executed when its turn comes, here or elsewhere; nobody waits for it.
   * @returns its id; that of the run which the same request began before, when it bears a known idempotency key
   * @throws AppError as `start`, but `SESSION_BUSY`
   */
  async submit(start: StartRun): Promise<Pick<RunHandle, 'id' | 'kind'>> {
    const begun = await this.starter.submit(start);
    return 'twinOf' in begun ? { id: begun.twinOf, kind: 'twin' } : { id: begun.id, kind: 'queued' };
  }

  /** @throws AppError `RUN_NOT_FOUND`, also for another tenant's run; `RUN_PRUNED` with what is left of it */
  async get(principal: Principal, id: string): Promise<RunRecord> {
    const run = await this.journal.findOf(principal.tenant, id);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${id}".`);
    if (run.prunedAt !== null) throw runPruned(run);
    return run;
  }

  /**
   * Resumes the runs that earlier processes left unfinished; call it once, when the application is ready. A shutdown stops it, and
   * waits until it has stopped.
   * @param which `own`: not those of agents that this application does not have; another application of the process may have them
   */
  async recover(which: 'all' | 'own' = 'all'): Promise<void> {
    await this.dispatcher.recover(which);
    if (this.dispatcher.isClosing) return;
    await this.dispatcher.admit(() => this.family.answerAll(() => this.dispatcher.isClosing));
  }

  /**
   * Asks for a run to be cancelled; a run that has already ended stays as it is.
   * @throws AppError `RUN_NOT_FOUND`, `RUN_NOT_CANCELLABLE` when it has ended
   */
  async cancel(principal: Principal, id: string): Promise<RunRecord> {
    const run = await this.get(principal, id);
    if (await this.family.cancel(id)) return this.get(principal, id);
    const { status } = (await this.journal.find(id)) ?? run;
    throw new AppError('RUN_NOT_CANCELLABLE', `Run "${id}" has already ended: it is ${status}.`, {
      details: { run_status: status },
    });
  }

  /**
   * Cancels a run whose caller has left. If this process executes it, no tool is called from now on, even if the request to cancel
   * cannot be journaled; a run that has ended stays as it is.
   */
  async leave(id: string): Promise<void> {
    this.dispatcher.cancel(id);
    try {
      await this.family.cancel(id);
    } catch (err) {
      this.logger.warn({ err, run_id: id }, 'The cancel of a run whose caller has left could not be journaled');
    }
  }

  /** Of a run that may be executed anywhere. */
  private async endOf(id: string): Promise<RunStatus> {
    for await (const _ of this.follower.open(id).items(START, new AbortController().signal));
    return (await this.journal.find(id))?.status ?? 'failed';
  }
}
