import { Injectable, Optional } from '@nestjs/common';
import { AppError, type ErrorCode, Log } from '../errors/index.js';
import { holdProcess } from '../kernel/index.js';
import { PrincipalDirectory } from '../security/index.js';
import { missedDeadline, tookTooLong } from './deadline.error.js';
import { isRelinquished, isReadableLater, journalUnavailable } from './relinquished.policy.js';
import type { RunTree } from './tree/run-tree.types.js';
import { JournaledRunContext } from './journaled-run-context.js';
import { RunBus } from './run-bus.js';
import { NO_USAGE, type RunFailed } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunJournal } from './run-journal.js';
import { RunOutbox } from './run-outbox.js';
import type { RunOpening, RunOutcome, RunRecord, RunStatus } from './run.types.js';

interface Execution {
  readonly controller: AbortController;
  readonly done: Promise<RunStatus>;
}

/** Crashes since the last recorded step after which a run is not retried. */
const MAX_CRASHES = 3;
/** Time for a run to stop after its abort, in ms. */
const ABORT_WAIT_MS = 1_000;

/** Executes claimed runs in this process: loads the recorded steps, enforces the time limit, commits the end. */
@Injectable()
export class RunExecutor {
  private readonly logger = new Log(RunExecutor.name);
  private readonly executions = new Map<string, Execution>();
  private runTree: RunTree | undefined;

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly handlers: RunHandlerRegistry,
    /** Absent in an application without `PrincipalModule`: principals are never revoked then. */
    @Optional() private readonly principals?: PrincipalDirectory,
  ) {}

  /** Lets runs call child runs. A setter, as child runs are executed here too (cyclic construction). */
  useRunTree(runTree: RunTree): void {
    this.runTree = runTree;
  }

  /**
   * @param run as claimed by this process
   * @param isNew true if a current request started it, so that its principal is up to date
   * @param opening if the journal does not hold the run yet
   * @returns the status when the execution ended
   * @throws AppError `RUN_FENCED` when another process continues it, `JOURNAL_UNAVAILABLE` when it must be retried
   */
  execute(run: RunRecord, isNew: boolean, opening?: RunOpening): Promise<RunStatus> {
    const controller = new AbortController();
    const done = holdProcess(this.supervise(run, controller, isNew, opening));
    this.executions.set(run.id, { controller, done });
    return done;
  }

  has(runId: string): boolean {
    return this.executions.has(runId);
  }

  /** Whether this application has the run's subject, such as its agent. */
  serves(run: RunRecord): boolean {
    return this.handlers.serves(run);
  }

  cancel(runId: string): void {
    this.executions.get(runId)?.controller.abort(cancelled());
  }

  /** Ends the streams of the run's followers on this node. */
  closeStreams(runId: string, code: ErrorCode): void {
    this.bus.live.close(runId);
    this.bus.publish(runId, new RunItem(null, Date.now(), { type: 'stream.closed', run_id: runId, code }));
  }

  /**
   * Waits up to `timeoutMs` for running executions, then hands them over. Afterwards listeners of all runs have all
   * items.
   */
  async drain(timeoutMs: number): Promise<void> {
    await this.stopAll(timeoutMs);
    this.bus.audience.flush();
  }

  private async stopAll(timeoutMs: number): Promise<void> {
    if (this.executions.size === 0 || (await this.areDone(timeoutMs))) return;
    const reason = new AppError(
      'SHUTTING_DOWN',
      'The server shut down; the run resumes in another process or at the next start.',
      {
        isRetryable: true,
      },
    );
    for (const { controller } of this.executions.values()) controller.abort(reason);
    await this.areDone(ABORT_WAIT_MS);
  }

  private async areDone(timeoutMs: number): Promise<boolean> {
    const all = Promise.allSettled([...this.executions.values()].map(({ done }) => done));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, timeoutMs, false)));
    const isDone = await Promise.race([all.then(() => true), late]);
    clearTimeout(timer);
    return isDone;
  }

  private async supervise(
    run: RunRecord,
    controller: AbortController,
    isNew: boolean,
    opening?: RunOpening,
  ): Promise<RunStatus> {
    const limit = timeLimit(run);
    const timer = setTimeout(() => controller.abort(limit.error()), limit.ms);
    if (limit.ms === 0) controller.abort(limit.error());
    if (run.cancelRequestedAt !== null) controller.abort(cancelled());
    if (run.attempts >= MAX_CRASHES) controller.abort(poisoned(run));
    try {
      const status = isNew
        ? await this.conclude(run, this.startContext(run, controller, opening))
        : await this.resume(run, controller);
      await this.notifyRunTree(run, status);
      return status;
    } catch (error) {
      this.logger.error({ err: error, run_id: run.id, session_id: run.sessionId }, 'Run relinquished by this node');
      this.closeStreams(run.id, error instanceof AppError ? error.code : 'INTERNAL');
      throw error;
    } finally {
      clearTimeout(timer);
      // A waiting run may have been resumed here already.
      if (this.executions.get(run.id)?.controller === controller) this.executions.delete(run.id);
    }
  }

  /** On failure a later sweep notifies the waiters. */
  private async notifyRunTree(run: RunRecord, status: RunStatus): Promise<void> {
    try {
      await this.runTree?.settled(run, status);
    } catch (err) {
      this.logger.warn({ err, run_id: run.id }, 'Failed to notify waiters that the run ended; retrying');
    }
  }

  /** A run with tampered records cannot continue on any node, so it is ended. */
  private async resume(run: RunRecord, controller: AbortController): Promise<RunStatus> {
    let context: JournaledRunContext;
    try {
      context = await this.resumeContext(run, controller);
    } catch (error) {
      if (!isTampered(error)) throw journalUnavailable(run.id, error);
      const outbox = await this.outboxOf(run);
      return new JournaledRunContext(run, this.journal, outbox, new Map(), controller).conclude(
        await this.broken(run, error),
      );
    }
    return this.conclude(run, context);
  }

  private async outboxOf(run: RunRecord): Promise<RunOutbox> {
    return new RunOutbox(run, this.bus, await this.journal.lastEvent(run.id), this.journal.cipher, this.journal.budget);
  }

  private startContext(run: RunRecord, controller: AbortController, opening?: RunOpening): JournaledRunContext {
    const outbox = new RunOutbox(run, this.bus, 1, this.journal.cipher, this.journal.budget);
    return new JournaledRunContext(run, this.journal, outbox, new Map(), controller, {
      opening,
      children: this.runTree,
    });
  }

  private async resumeContext(run: RunRecord, controller: AbortController): Promise<JournaledRunContext> {
    const principal = this.principals ? await this.principals.lookUp(run.principal) : run.principal;
    if (!principal) controller.abort(revoked(run));
    if (await this.runTree?.isOrphan(run)) controller.abort(cancelled());
    const steps = await this.journal.steps(run.id);
    const outbox = await this.outboxOf(run);
    const recorded = new Map(steps.map((step) => [step.name, step]));
    const current = { ...run, principal: principal ?? run.principal };
    if (steps.some(({ kind }) => kind === 'child')) this.runTree?.remember(run.id);
    const context = new JournaledRunContext(current, this.journal, outbox, recorded, controller, {
      children: this.runTree,
      files: await this.journal.files(run.id),
    });
    if (run.epoch > 1) context.emit({ type: 'run.resumed', run_id: run.id, attempt: run.epoch });
    return context;
  }

  private async conclude(run: RunRecord, context: JournaledRunContext): Promise<RunStatus> {
    try {
      const status = await this.commitEnd(run, context, await this.outcome(run, context));
      this.logger.log({ run_id: run.id, session_id: run.sessionId, agent: run.agent, status }, 'Run execution ended');
      return status;
    } catch (error) {
      if (!isHandedOver(context.signal)) throw error;
      await context.handOver();
      this.closeStreams(run.id, 'SHUTTING_DOWN');
      return 'queued';
    }
  }

  private async commitEnd(run: RunRecord, context: JournaledRunContext, outcome: RunOutcome): Promise<RunStatus> {
    try {
      return await context.conclude(outcome);
    } catch (error) {
      if (isRelinquished(context.signal)) throw context.signal.reason;
      return await context.conclude(await this.broken(run, error));
    }
  }

  private async outcome(run: RunRecord, context: JournaledRunContext): Promise<RunOutcome> {
    try {
      return await this.handlers.get(run.kind).execute(run, context);
    } catch (error) {
      if (isRelinquished(context.signal)) throw context.signal.reason;
      // A later read may succeed.
      if (isReadableLater(error)) throw journalUnavailable(run.id, error);
      return this.broken(run, error);
    }
  }

  /** The end of a run that failed outside its handler's control. */
  private async broken(run: RunRecord, error: unknown): Promise<RunOutcome> {
    this.logger.error({ err: error, run_id: run.id, session_id: run.sessionId }, 'Unexpected error in run');
    return { kind: 'finished', event: brokenEvent(run, error), ...(await this.handlers.ending(run)) };
  }
}

function isTampered(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATA_TAMPERED';
}

function cancelled(): AppError {
  return new AppError('RUN_CANCELLED', 'The run was cancelled.');
}

/** The earlier limit: that of one execution, or the run's deadline. */
function timeLimit({ timeoutMs, deadlineAt }: RunRecord): { ms: number; error: () => AppError } {
  const leftMs = deadlineAt === null ? Number.POSITIVE_INFINITY : deadlineAt - Date.now();
  if (leftMs > timeoutMs) {
    return { ms: timeoutMs, error: () => tookTooLong(timeoutMs) };
  }
  return { ms: Math.max(leftMs, 0), error: () => missedDeadline(deadlineAt!) };
}

/** Permissions that were revoked while a run was not running stay revoked. */
function revoked({ principal }: RunRecord): AppError {
  return new AppError(
    'FORBIDDEN',
    `The permissions of "${principal.id}", who started the run, were revoked; the run is stopped.`,
  );
}

function poisoned({ attempts }: RunRecord): AppError {
  return new AppError(
    'RUN_POISONED',
    `The server crashed ${attempts} times during the same step of this run; the run is not retried.`,
  );
}

function isHandedOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof AppError && reason.code === 'SHUTTING_DOWN';
}

function brokenEvent(run: RunRecord, error: unknown): RunFailed {
  const code = error instanceof AppError ? error.code : 'INTERNAL';
  return {
    type: 'run.failed',
    run_id: run.id,
    result: '',
    finish_reason: 'error',
    is_complete: false,
    iterations: 0,
    usage: NO_USAGE,
    model: '',
    error: {
      code,
      message:
        error instanceof AppError
          ? error.message
          : 'The run failed with an internal error; see the server log for the cause.',
      is_retryable: false,
    },
  };
}
