import { Injectable, Optional } from '@nestjs/common';
import { AppError, type ErrorCode, Log, withLogFields } from '../errors/index.js';
import { HeapReservation, holdProcess, isDoneWithin, TimeLimit } from '../kernel/index.js';
import { withPatience } from '../persistence/index.js';
import { PrincipalDirectory } from '../security/index.js';
import { Cipher } from '../security/encryption/index.js';
import { parseTraceParent, withSpan, withTraceParent } from '../telemetry/index.js';
import {
  abortUnstartable,
  cancelled,
  isHandedOver,
  isReadableLater,
  isRelinquished,
  journalUnavailable,
  revoked,
  timeLimit,
} from './context/execution-end.js';
import type { RunTree } from './tree/run-tree.types.js';
import { JournaledRunContext } from './context/journaled-run-context.js';
import { LateResultService, type RefusedBatch } from './late-result.service.js';
import { PostponedRunRegistry } from './postponed-run.registry.js';
import { RunBus } from './follow/run-bus.js';
import { brokenEvent } from './run-failure.factory.js';
import { RunItem } from './event/run-item.factory.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunJournal } from './run-journal.js';
import type { RunTracer } from './trace/run-trace.js';
import { assertReadable } from './run-record.mapper.js';
import { RunOutbox } from './run-outbox.js';
import type { RunEnding, RunHead, RunOpening, RunOutcome, RunRecord, RunStatus } from './run.types.js';

interface Execution {
  readonly controller: AbortController;
  readonly done: Promise<RunStatus>;
}

/** Time for a run to stop after its abort, in ms. */
const ABORT_WAIT_MS = 1_000;

/** Executes claimed runs in this process: loads the recorded steps, enforces the time limit, commits the end. */
@Injectable()
export class RunExecutor {
  private readonly logger = new Log(RunExecutor.name);
  private readonly executions = new Map<string, Execution>();
  private runTree: RunTree | undefined;
  private tracing: RunTracer | undefined;

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly handlers: RunHandlerRegistry,
    private readonly lateResults: LateResultService,
    readonly postponed: PostponedRunRegistry,
    /** Absent in an application without `PrincipalModule`: principals are never revoked then. */
    @Optional() private readonly principals?: PrincipalDirectory,
  ) {}

  /** Lets runs call child runs. A setter, as child runs are executed here too (cyclic construction). */
  useRunTree(runTree: RunTree): void {
    this.runTree = runTree;
  }

  /** Sends spans of the runs. */
  useTracing(tracing: RunTracer): void {
    this.tracing = tracing;
  }

  /**
   * Executes a run within the current heap reservation, until its end.
   * @param run as claimed by this process
   * @param isNew true if a current request started it, so that its principal is up to date
   * @param opening if the journal does not hold the run yet
   * @returns the status when the execution ended
   * @throws AppError `RUN_FENCED` when another process continues it, `JOURNAL_UNAVAILABLE` when it must be retried
   */
  execute(run: RunRecord, isNew: boolean, opening?: RunOpening): Promise<RunStatus> {
    const controller = new AbortController();
    const reservation = HeapReservation.current?.retain();
    const span = this.tracing?.spanOf(run);
    const trace_id = (span ?? parseTraceParent(run.traceparent))?.traceId;
    const ids = {
      run_id: run.id,
      ...(run.sessionId !== null && { session_id: run.sessionId }),
      ...(trace_id !== undefined && { trace_id }),
    };
    const supervised = () => this.supervise(run, controller, isNew, opening);
    const traced = () => (span ? withSpan(span, {}, supervised) : withTraceParent(run.traceparent, supervised));
    const execution = withLogFields(ids, traced).finally(() => reservation?.release());
    const done = holdProcess(execution);
    this.executions.set(run.id, { controller, done });
    return done;
  }

  /** Number of runs that execute here. */
  get active(): number {
    return this.executions.size;
  }

  has(runId: string): boolean {
    return this.executions.has(runId);
  }

  /** Whether this application has the run's subject, such as its agent. */
  serves(run: RunHead): boolean {
    return this.handlers.serves(run);
  }

  cancel(runId: string): void {
    this.executions.get(runId)?.controller.abort(cancelled());
  }

  /** Ends the streams of the run's followers on this node, as its execution here has ended. */
  closeStreams(runId: string, code: ErrorCode): void {
    this.bus.live.close(runId);
    this.endStreams(runId, code);
  }

  /** Ends the requests of clients that wait for the run, which continues when the database is available. */
  private releaseClients(runId: string): void {
    this.endStreams(runId, 'STORAGE_UNAVAILABLE');
  }

  private endStreams(runId: string, code: ErrorCode): void {
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
      { isRetryable: true },
    );
    for (const { controller } of this.executions.values()) controller.abort(reason);
    await this.areDone(ABORT_WAIT_MS);
  }

  private areDone(timeoutMs: number): Promise<boolean> {
    const all = Promise.allSettled([...this.executions.values()].map(({ done }) => done));
    return isDoneWithin(timeoutMs, all);
  }

  private async supervise(
    run: RunRecord,
    controller: AbortController,
    isNew: boolean,
    opening?: RunOpening,
  ): Promise<RunStatus> {
    const limit = timeLimit(run);
    const timer = new TimeLimit(limit.ms, () => controller.abort(limit.error()));
    if (limit.ms === 0) controller.abort(limit.error());
    abortUnstartable(run, controller);
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
      timer.clear();
      // A waiting run may have been resumed here already.
      if (this.executions.get(run.id)?.controller === controller) {
        this.executions.delete(run.id);
        this.bus.left(run.id);
      }
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
      if (!Cipher.isDamage(error)) throw journalUnavailable(run.id, error);
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
      trace: this.tracing?.open(run),
      ...this.listenersOf(run),
    });
  }

  private listenersOf(run: RunRecord) {
    return {
      patienceMs: this.postponed.patienceMs,
      onHeld: () => this.releaseClients(run.id),
      onFenced: (batch: RefusedBatch) => void this.lateResults.settle(run, batch),
    };
  }

  private async resumeContext(run: RunRecord, controller: AbortController): Promise<JournaledRunContext> {
    assertReadable(run);
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
      trace: await this.tracing?.reopen(run),
      files: await this.journal.files(run.id),
      ...this.listenersOf(run),
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
    if (outcome.kind === 'postponed') this.postponed.noteOutage(run.id, outcome.outage);
    try {
      return await context.conclude(outcome);
    } catch (error) {
      if (isRelinquished(context.signal)) throw context.signal.reason;
      return await context.conclude(await this.broken(run, error));
    }
  }

  private async outcome(run: RunRecord, context: JournaledRunContext): Promise<RunOutcome> {
    try {
      const patience = { signal: context.signal, onHeld: () => this.releaseClients(run.id) };
      return await withPatience(patience, () => this.handlers.get(run.kind).execute(run, context));
    } catch (error) {
      if (isRelinquished(context.signal)) throw context.signal.reason;
      if (context.outlasts(error)) return { kind: 'postponed', outage: error };
      // A later read may succeed.
      if (isReadableLater(error)) throw journalUnavailable(run.id, error);
      return this.broken(run, error);
    }
  }

  /** The end of a run that failed outside its handler's control. */
  private async broken(run: RunRecord, error: unknown): Promise<RunOutcome> {
    this.logger.error({ err: error, run_id: run.id, session_id: run.sessionId }, 'Unexpected error in run');
    return { kind: 'finished', event: brokenEvent(run.id, error), ...(await this.endingOf(run)) };
  }

  /** Without further statements if the definition is damaged. */
  private async endingOf(run: RunRecord): Promise<RunEnding> {
    try {
      assertReadable(run);
    } catch {
      return { statements: [] };
    }
    return this.handlers.ending(run);
  }
}
