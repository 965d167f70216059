import { AppError } from '../../errors/index.js';
import { type Principal, steadyNow } from '../../kernel/index.js';
import { isRefusedAtOnce, refusalOf } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { ChildCall, ChildStatus, RunLineage } from '../tree/child-run.types.js';
import type { Decision } from '../decision/decision.types.js';
import type { ContextParts } from './context-parts.types.js';
import { abortLate, afterThisTick, atTickEnd, fenced, journalUnavailable, OutagePatience } from './execution-end.js';
import { FileLedger, RunContext, type StepName } from './run-context.js';
import { toFileSteps } from '../files/run-file.mapper.js';
import { isLive, type RunEvent } from '../event/run-event.types.js';
import { HeldCommit, toConclusion } from '../held-commit.js';
import type { RunJournal } from '../run-journal.js';
import { RunOutbox, type OutgoingBatch } from '../run-outbox.js';
import { fence, insertStep, releaseRun } from '../run-statement.factory.js';
import type { StartedStep } from '../trace/run-trace.js';
import { replayStep, toJson, toSubject } from '../run-record.mapper.js';
import type { StepCompanion, StepOptions } from './step-companion.types.js';
import type { RecordedStep, RunOpening, RunOutcome, RunRecord, RunStatus } from '../run.types.js';

/** Delay of an event that waits for a step's batch, in ms: a call that ends within it costs one commit, not two. */
const BATCH_WAIT_MS = 10;

interface Waiting {
  readonly recorded: readonly RecordedStep[];
  readonly companions: readonly StepCompanion[];
  readonly batch: OutgoingBatch;
}

/**
 * A run's context over the journal. Events, values and steps wait in the outbox and go into the next batch together. If
 * no step commits an event, a timer commits it a few milliseconds later, or a live event behind it does so at once.
 */
export class JournaledRunContext extends RunContext {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
  readonly lineage: RunLineage | null;
  readonly signal: AbortSignal;
  override readonly isJournaled = true;
  override readonly deadlineAt: number;
  override readonly endsAt: number | undefined;
  override readonly files: FileLedger;
  private readonly patience: OutagePatience;
  private readonly held: HeldCommit;
  private pendingSteps: RecordedStep[] = [];
  private companions: StepCompanion[] = [];
  private readonly closing: RunEvent[] = [];
  private flushing: NodeJS.Timeout | null = null;
  /** The batch that is scheduled but does not commit yet. */
  private writing: Promise<void> | null = null;
  /** The commit that starts the run, while it is in progress; no other batch commits before it. */
  private opening: Promise<void> | null = null;
  /** Serialises batches: on a connection pool a later batch could become durable first. */
  private committing: Promise<void> = Promise.resolve();
  /** Error of a failed commit; the content of that batch is not recorded. */
  private lost: AppError | null = null;
  /** The commit that took the pending events and steps last. */
  private taking: Promise<void> = Promise.resolve();

  /**
   * @param run as claimed by this process
   * @param recorded steps of earlier executions, by step name
   * @param controller stops the loop; the first abort reason counts
   */
  constructor(
    private readonly run: RunRecord,
    private readonly journal: RunJournal,
    private readonly outbox: RunOutbox,
    private readonly recorded: ReadonlyMap<string, RecordedStep>,
    private readonly controller: AbortController,
    private readonly parts: ContextParts = {},
  ) {
    super();
    this.files = new FileLedger((n) => journal.file(run.id, n), parts.files);
    this.runId = run.id;
    this.principal = run.principal;
    this.sessionId = run.sessionId;
    this.lineage = run.lineage;
    this.signal = controller.signal;
    this.deadlineAt = steadyNow() + Math.min(run.timeoutMs, (run.deadlineAt ?? Infinity) - Date.now());
    this.endsAt = run.deadlineAt ?? undefined;
    this.patience = new OutagePatience(run, parts.patienceMs);
    this.held = new HeldCommit(run, journal, parts.onHeld);
    if (parts.opening) this.opening = this.open(parts.opening);
  }

  async step<T>(
    { kind, place, subject: about }: StepName,
    action: () => Promise<T>,
    { isLast, companion, files, facts }: StepOptions<T> = {},
  ): Promise<T> {
    const name = `${kind}:${place}`;
    const subject = toSubject(about);
    const recorded = this.recorded.get(name);
    if (recorded) return replayStep(this.run, recorded, subject) as T;
    if (!this.journal.isSurelyOwner()) await this.confirm();
    abortLate(this.run, this.controller, kind);
    this.emit({ type: 'step.started', step: name });
    const startedAt = Date.now();
    const result = await this.perform({ name, kind, subject }, action);
    const step = { name, kind, subject, result: toJson(result), startedAt, ...facts?.() };
    if (isLast?.(result)) this.pendingSteps.push(step);
    else await this.write([step, ...toFileSteps(place, files?.() ?? [])], companion?.());
    return result;
  }

  private perform<T>(step: StartedStep, action: () => Promise<T>): Promise<T> {
    return this.parts.trace?.within(step, action) ?? action();
  }

  isRecorded({ kind, place }: { readonly kind: string; readonly place: string }): boolean {
    return this.recorded.has(`${kind}:${place}`);
  }

  answer(requestId: string): Decision | undefined {
    const recorded = this.recorded.get(`answer:${requestId}`);
    return recorded && (replayStep(this.run, recorded, recorded.subject) as Decision);
  }

  async value<T>(place: string, make: () => T | Promise<T>): Promise<T> {
    const name = `value:${place}`;
    const recorded = this.recorded.get(name);
    if (recorded) return replayStep(this.run, recorded, '') as T;
    const value = await make();
    this.pendingSteps.push({ name, kind: 'value', subject: '', result: toJson(value) });
    return value;
  }

  async claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'> {
    const name = `claim:${place}`;
    if (this.recorded.has(name)) return 'unknown';
    abortLate(this.run, this.controller, 'claim');
    this.outbox.add(announcement);
    await this.write([{ name, kind: 'claim', subject: '', result: 'null' }]);
    return 'claimed';
  }

  emit(event: RunEvent): void {
    this.outbox.add(event);
    // No client needs `step.started` at once.
    if (event.type === 'step.started') return;
    if (!isLive(event)) this.flushing ??= setTimeout(() => this.flush(), BATCH_WAIT_MS);
    else if (this.flushing) this.flush();
  }

  override emitWithEnd(event: RunEvent): void {
    this.closing.push(event);
  }

  async join(call: ChildCall): Promise<ChildStatus> {
    const { children } = this.parts;
    if (!children) throw new AppError('INTERNAL', 'This run cannot call other runs.');
    try {
      const signal = call.signal ? AbortSignal.any([this.signal, call.signal]) : this.signal;
      const status = await children.join(this.run, call, signal);
      if (status.kind === 'waiting') this.patience.check(status.outage);
      return status;
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      throw error instanceof AppError && !refusalOf(error) ? error : this.failure(error);
    }
  }

  override get started(): Promise<void> | null {
    return this.opening;
  }

  override outlasts(error: unknown): error is AppError {
    return !this.signal.aborted && this.patience.lasts(error);
  }

  /** Commits the end (or the waiting or postponed state) of the run, with the remaining outbox. */
  async conclude(outcome: RunOutcome): Promise<RunStatus> {
    const end = toConclusion(this.run, outcome, this.patience, this.journal.cipher);
    await this.commit(end.condition, end.statements, end.event);
    if (outcome.kind === 'finished') await outcome.ended?.();
    return end.status;
  }

  /** Returns the run to the queue, for the next process to resume. */
  async handOver(): Promise<void> {
    await this.commit(releaseRun(this.run, 'queued'), []);
  }

  /**
   * Commits the steps with the pending events. Steps that end in the same tick share a batch. With two batches, the
   * first could take the events of the other step, and a crash in between would leave events of a step that executes
   * again.
   */
  private write(steps: readonly RecordedStep[], companion?: StepCompanion): Promise<void> {
    this.pendingSteps.push(...steps);
    if (companion) this.companions.push(companion);
    return (this.writing ??= afterThisTick().then(() => this.writeWaiting()));
  }

  private async writeWaiting(): Promise<void> {
    this.writing = null;
    const isProgress = this.pendingSteps.length > 0;
    if (isProgress) this.patience.renew();
    // An earlier commit may already have taken the pending items, or may still take them; if it failed, they are lost.
    const isTaken = !isProgress && !this.outbox.hasJournaled;
    await (isTaken ? this.taking : this.commit(fence(this.run, isProgress), []));
    if (this.lost) throw this.lost;
  }

  private flush(): void {
    clearTimeout(this.flushing ?? undefined);
    this.flushing = null;
    if (this.outbox.hasJournaled) void this.write([]).catch(() => undefined);
  }

  private open(opening: RunOpening): Promise<void> {
    const opened = this.outbox.open(opening).then(
      () => void (this.opening = null),
      (cause: unknown) => {
        throw this.failure(cause);
      },
    );
    opened.catch(() => undefined);
    return opened;
  }

  /**
   * Checks before an external effect that this process still owns the run: another process may have claimed it while
   * this one was suspended. @throws AppError `RUN_FENCED`
   */
  private async confirm(): Promise<void> {
    // A run that is not journaled yet has no other owner.
    await this.opening;
    let isOurs: boolean;
    try {
      isOurs = await this.held.repeat(() => this.journal.isOwner(this.run));
    } catch (cause) {
      throw this.failure(cause);
    }
    if (isOurs) return;
    const error = fenced(this.runId);
    this.controller.abort(error);
    throw error;
  }

  /** @param end the event of this batch that leaves the execution; it must not enter another batch */
  private commit(condition: Statement, statements: readonly Statement[], end?: RunEvent): Promise<void> {
    const take = () => this.takeWaiting(done, end);
    const done: Promise<void> = this.committing.then(() => this.commitNext(condition, statements, take));
    this.committing = done.catch(() => undefined);
    return done;
  }

  private async commitNext(condition: Statement, statements: readonly Statement[], take: () => Waiting): Promise<void> {
    if (!this.journal.keepsOrder) await this.opening;
    const { recorded, companions, batch } = await atTickEnd(take);
    const now = Date.now();
    try {
      const steps = recorded.map((step) => insertStep(this.run, step, now, this.journal.cipher));
      const mark = { step: recorded[0]?.name, event: batch.first };
      await this.held.commit([condition, ...steps, ...batch.statements, ...statements], companions, mark);
      // If the start and this batch are one commit, listeners must receive the start before the step continues.
      if (this.opening) await this.opening;
    } catch (cause) {
      batch.discard();
      if (isRefusedAtOnce(cause)) this.parts.onFenced?.({ steps: recorded, events: batch.events, companions });
      throw this.failure(cause);
    }
    batch.publish();
    this.parts.trace?.committed(recorded, batch.items, now);
    await Promise.all(companions.map((companion) => companion.committed()));
  }

  private takeWaiting(taking: Promise<void>, end?: RunEvent): Waiting {
    this.taking = taking;
    if (end) for (const event of [...this.closing, end]) this.outbox.add(event);
    const waiting = { recorded: this.pendingSteps, companions: this.companions, batch: this.outbox.take() };
    this.pendingSteps = [];
    this.companions = [];
    return waiting;
  }

  /**
   * A lost epoch or an unwritable journal ends this execution. Any other refusal is an error in the batch's content:
   * the run can still end with that error.
   */
  private failure(cause: unknown): unknown {
    if (refusalOf(cause) && !isRefusedAtOnce(cause)) return cause;
    const error = refusalOf(cause) ? fenced(this.runId, cause) : journalUnavailable(this.runId, cause);
    this.lost ??= error;
    this.controller.abort(error);
    return error;
  }
}
