import { Injectable, Logger, Optional } from '@nestjs/common';
import { AppError, type ErrorCode } from '../common/index.js';
import { PrincipalDirectory } from '../security/index.js';
import { missedDeadline, tookTooLong } from './deadline.error.js';
import { isGivenUp, isReadableLater, journalUnavailable } from './given-up.policy.js';
import type { RunFamily } from './child/run-family.types.js';
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

/** A run that killed its process so often since its last recorded step is not tried again. */
const MAX_CRASHES = 3;
/** How long a run may take to let go after it was told to, in ms. */
const LET_GO_MS = 1_000;

/** Executes claimed runs in this process: loads what is recorded, watches the time, commits the end. */
@Injectable()
export class RunExecutor {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly executions = new Map<string, Execution>();
  private family: RunFamily | undefined;

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly handlers: RunHandlerRegistry,
    /** Without one, nobody's rights are ever revoked. */
    @Optional() private readonly principals?: PrincipalDirectory,
  ) {}

  /** Lets runs call others; those are executed here too, so that this cannot be given at the beginning. */
  useFamily(family: RunFamily): void {
    this.family = family;
  }

  /**
   * @param run as this process claimed it
   * @param isNew whether it was begun by a request of now, so that its principal's rights are those of now
   * @param opening when the journal does not hold the run yet
   * @returns its status when the execution ended
   * @throws AppError `RUN_FENCED` when it goes on elsewhere, `JOURNAL_UNAVAILABLE` when it must be tried again
   */
  execute(run: RunRecord, isNew: boolean, opening?: RunOpening): Promise<RunStatus> {
    const controller = new AbortController();
    const done = this.supervise(run, controller, isNew, opening);
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

  /** Tells the run's followers that nothing more comes from here. */
  closeStreams(runId: string, code: ErrorCode): void {
    this.bus.live.close(runId);
    this.bus.publish(runId, new RunItem(null, Date.now(), { type: 'stream.closed', run_id: runId, code }));
  }

  /** Waits up to `timeoutMs` for what runs; what does not end by then is handed over. Who listens to all runs has then been told all. */
  async drain(timeoutMs: number): Promise<void> {
    await this.letGo(timeoutMs);
    this.bus.audience.flush();
  }

  private async letGo(timeoutMs: number): Promise<void> {
    if (this.executions.size === 0 || (await this.areDone(timeoutMs))) return;
    const reason = new AppError('SHUTTING_DOWN', 'The server shut down; the run goes on at its next start.', {
      isRetryable: true,
    });
    for (const { controller } of this.executions.values()) controller.abort(reason);
    await this.areDone(LET_GO_MS);
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
        ? await this.conclude(run, this.begin(run, controller, opening))
        : await this.goOn(run, controller);
      await this.tellFamily(run, status);
      return status;
    } catch (error) {
      this.logger.error({ err: error, run_id: run.id, session_id: run.sessionId }, 'A run was given up here');
      this.closeStreams(run.id, error instanceof AppError ? error.code : 'INTERNAL');
      throw error;
    } finally {
      clearTimeout(timer);
      // A run that waited may go on here already.
      if (this.executions.get(run.id)?.controller === controller) this.executions.delete(run.id);
    }
  }

  /** What cannot be told now, a sweep finds. */
  private async tellFamily(run: RunRecord, status: RunStatus): Promise<void> {
    try {
      await this.family?.settled(run, status);
    } catch (err) {
      this.logger.warn(
        { err, run_id: run.id },
        'Who waits for a run could not be told that it ended; it is tried again',
      );
    }
  }

  /** A run whose records were tampered with goes on nowhere: it ends, whoever takes it up. */
  private async goOn(run: RunRecord, controller: AbortController): Promise<RunStatus> {
    let context: JournaledRunContext;
    try {
      context = await this.open(run, controller);
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

  private begin(run: RunRecord, controller: AbortController, opening?: RunOpening): JournaledRunContext {
    const outbox = new RunOutbox(run, this.bus, 1, this.journal.cipher, this.journal.budget);
    return new JournaledRunContext(run, this.journal, outbox, new Map(), controller, {
      opening,
      children: this.family,
    });
  }

  private async open(run: RunRecord, controller: AbortController): Promise<JournaledRunContext> {
    const principal = this.principals ? await this.principals.lookUp(run.principal) : run.principal;
    if (!principal) controller.abort(revoked(run));
    if (await this.family?.isOrphan(run)) controller.abort(cancelled());
    const steps = await this.journal.steps(run.id);
    const outbox = await this.outboxOf(run);
    const recorded = new Map(steps.map((step) => [step.name, step]));
    const current = { ...run, principal: principal ?? run.principal };
    if (steps.some(({ kind }) => kind === 'child')) this.family?.remember(run.id);
    const context = new JournaledRunContext(current, this.journal, outbox, recorded, controller, {
      children: this.family,
    });
    if (run.epoch > 1) context.emit({ type: 'run.resumed', run_id: run.id, attempt: run.epoch });
    return context;
  }

  private async conclude(run: RunRecord, context: JournaledRunContext): Promise<RunStatus> {
    try {
      const status = await this.commitEnd(run, context, await this.outcome(run, context));
      this.logger.log({ run_id: run.id, session_id: run.sessionId, agent: run.agent, status }, 'A run ended here');
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
      if (isGivenUp(context.signal)) throw context.signal.reason;
      return await context.conclude(await this.broken(run, error));
    }
  }

  private async outcome(run: RunRecord, context: JournaledRunContext): Promise<RunOutcome> {
    try {
      return await this.handlers.get(run.kind).execute(run, context);
    } catch (error) {
      if (isGivenUp(context.signal)) throw context.signal.reason;
      // What could not be read now is read again later.
      if (isReadableLater(error)) throw journalUnavailable(run.id, error);
      return this.broken(run, error);
    }
  }

  /** The end of a run that its handler could not bring to one. */
  private async broken(run: RunRecord, error: unknown): Promise<RunOutcome> {
    this.logger.error({ err: error, run_id: run.id, session_id: run.sessionId }, 'A run broke');
    return { kind: 'finished', event: brokenEvent(run, error), ...(await this.handlers.ending(run)) };
  }
}

function isTampered(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DATA_TAMPERED';
}

function cancelled(): AppError {
  return new AppError('RUN_CANCELLED', 'The run was cancelled.');
}

/** Which comes first: the end of the time for one execution, or the run's deadline. */
function timeLimit({ timeoutMs, deadlineAt }: RunRecord): { ms: number; error: () => AppError } {
  const leftMs = deadlineAt === null ? Number.POSITIVE_INFINITY : deadlineAt - Date.now();
  if (leftMs > timeoutMs) {
    return { ms: timeoutMs, error: () => tookTooLong(timeoutMs) };
  }
  return { ms: Math.max(leftMs, 0), error: () => missedDeadline(deadlineAt!) };
}

/** Rights that were revoked while a run was not running stay revoked. */
function revoked({ principal }: RunRecord): AppError {
  return new AppError(
    'FORBIDDEN',
    `The rights of "${principal.id}", who began the run, were revoked; it does not go on.`,
  );
}

function poisoned({ attempts }: RunRecord): AppError {
  return new AppError(
    'RUN_POISONED',
    `The server was cut off ${attempts} times while this run did the same step; it is not tried again.`,
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
      message: error instanceof AppError ? error.message : 'The run broke inside the server; its log has the cause.',
      is_retryable: false,
    },
  };
}
