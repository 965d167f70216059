import { AppError, parseExactJson, type Principal } from '../common/index.js';
import { isRefusedAfter, isRefusedAtOnce, refusalOf, type Statement } from '../persistence/index.js';
import type { RunFamily } from './child/run-family.types.js';
import type { ChildCall, ChildStanding, RunLineage } from './child/child-run.types.js';
import type { Decision } from './decision/decision.types.js';
import { abortLate, fenced, journalUnavailable } from './given-up.policy.js';
import { RunContext, type StepName } from './run-context.js';
import { isLive, type RunEvent } from './run-event.types.js';
import { firstExpiry, withinDeadline } from './decision/waiting-time.policy.js';
import type { RunJournal } from './run-journal.js';
import { RunOutbox, type OutgoingBatch } from './run-outbox.js';
import { endRun, fence, insertStep, leaveRun } from './run-statement.factory.js';
import { sealedSummary } from './run-summary.mapper.js';
import { replayStep, toJson, toSubject } from './step-record.mapper.js';
import { afterThisTick, atTickEnd } from './tick-end.policy.js';
import type { StepCompanion, StepOptions } from './step-companion.types.js';
import type { RecordedStep, RunOpening, RunOutcome, RunRecord, RunStatus } from './run.types.js';

/** How long an event waits for a step to go along with, in ms: a call that is soon done is one batch, not two. */
const GO_ALONG_MS = 10;

/** What not every run has. */
export interface ContextParts {
  /** When the journal does not hold the run yet. */
  readonly opening?: RunOpening | undefined;
  /** Runs that it calls. */
  readonly children?: Pick<RunFamily, 'join'> | undefined;
}

/** What goes into a batch. */
interface Waiting {
  readonly recorded: readonly RecordedStep[];
  readonly companions: readonly StepCompanion[];
  readonly batch: OutgoingBatch;
}

/**
 * A run's context over the journal. Events, values and steps wait in the outbox and go into the next batch together;
 * an event that nothing takes along is committed a few milliseconds later, or as soon as a live one waits behind it.
 */
export class JournaledRunContext extends RunContext {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
  readonly lineage: RunLineage | null;
  readonly signal: AbortSignal;
  override readonly isJournaled = true;
  override readonly deadlineAt: number;
  private readonly children: ContextParts['children'];
  private pendingSteps: RecordedStep[] = [];
  private companions: StepCompanion[] = [];
  private readonly closing: RunEvent[] = [];
  private flushing: NodeJS.Timeout | null = null;
  /** The batch that is about to be committed. */
  private writing: Promise<void> | null = null;
  /** The batch that begins the run, while it is being committed: nothing else is committed before it. */
  private opening: Promise<void> | null = null;
  /** One batch after the other: on connections of a pool a later one could be durable first. */
  private committing: Promise<void> = Promise.resolve();
  /** Why a batch could not be written: what was in it is not recorded. */
  private lost: AppError | null = null;
  /** The commit that has taken what waited last. */
  private taking: Promise<void> = Promise.resolve();

  /**
   * @param run as this process claimed it
   * @param recorded what earlier executions recorded, by step name
   * @param controller tells the loop to stop; the first reason counts
   * @param parts what not every run has
   */
  constructor(
    private readonly run: RunRecord,
    private readonly journal: RunJournal,
    private readonly outbox: RunOutbox,
    private readonly recorded: ReadonlyMap<string, RecordedStep>,
    private readonly controller: AbortController,
    { opening, children }: ContextParts = {},
  ) {
    super();
    this.runId = run.id;
    this.principal = run.principal;
    this.sessionId = run.sessionId;
    this.lineage = run.lineage;
    this.signal = controller.signal;
    this.deadlineAt = Math.min(Date.now() + run.timeoutMs, run.deadlineAt ?? Number.POSITIVE_INFINITY);
    this.children = children;
    if (opening) this.opening = this.open(opening);
  }

  async step<T>(
    { kind, place, subject: about }: StepName,
    action: () => Promise<T>,
    { isLast, companion }: StepOptions<T> = {},
  ): Promise<T> {
    const name = `${kind}:${place}`;
    const subject = toSubject(about);
    const recorded = this.recorded.get(name);
    if (recorded) return replayStep(this.runId, recorded, subject) as T;
    if (!this.journal.isSurelyOwner()) await this.confirm();
    abortLate(this.run, this.controller, kind);
    this.emit({ type: 'step.started', step: name });
    const result = await action();
    const step = { name, kind, subject, result: toJson(result) };
    if (isLast?.(result)) this.pendingSteps.push(step);
    else await this.write([step], companion?.());
    return result;
  }

  isRecorded({ kind, place }: { readonly kind: string; readonly place: string }): boolean {
    return this.recorded.has(`${kind}:${place}`);
  }

  answer(requestId: string): Decision | undefined {
    const recorded = this.recorded.get(`answer:${requestId}`);
    return recorded && (parseExactJson(recorded.result) as Decision);
  }

  async value<T>(place: string, make: () => T | Promise<T>): Promise<T> {
    const name = `value:${place}`;
    const recorded = this.recorded.get(name);
    if (recorded) return replayStep(this.runId, recorded, '') as T;
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
    // Nobody looks out for the beginning of a step.
    if (event.type === 'step.started') return;
    if (!isLive(event)) this.flushing ??= setTimeout(() => this.flush(), GO_ALONG_MS);
    else if (this.flushing) this.flush();
  }

  override emitWithEnd(event: RunEvent): void {
    this.closing.push(event);
  }

  async join(call: ChildCall): Promise<ChildStanding> {
    if (!this.children) throw new AppError('INTERNAL', 'Runs cannot call others here.');
    try {
      return await this.children.join(this.run, call, this.signal);
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      throw error instanceof AppError && !refusalOf(error) ? error : this.failure(error);
    }
  }

  override get begun(): Promise<void> | null {
    return this.opening;
  }

  /** Commits the end (or the waiting) of the run with all that is still in the outbox. */
  async conclude(outcome: RunOutcome): Promise<RunStatus> {
    if (outcome.kind === 'waiting') {
      const requests = outcome.requests.map((request) => withinDeadline(request, this.run.deadlineAt));
      const end: RunEvent = {
        type: 'run.waiting',
        run_id: this.runId,
        reason: requests[0]?.kind ?? 'approval',
        requests,
      };
      await this.commit(leaveRun(this.run, 'waiting', firstExpiry(requests)), [], end);
      return 'waiting';
    }
    const status = outcome.event.type.slice('run.'.length) as RunStatus;
    const summary = sealedSummary(this.run, outcome.event, this.journal.cipher);
    await this.commit(endRun(this.run, 'running', status, Date.now(), summary), outcome.statements, outcome.event);
    await outcome.ended?.();
    return status;
  }

  /** Puts the run back, for the next process to go on. */
  async handOver(): Promise<void> {
    await this.commit(leaveRun(this.run, 'queued'), []);
  }

  /**
   * Commits the steps with what waits. Steps that end together share a batch: each of two batches could take the
   * other step's events along, and a crash between them would leave events whose step happens again.
   */
  private write(steps: readonly RecordedStep[], companion?: StepCompanion): Promise<void> {
    this.pendingSteps.push(...steps);
    if (companion) this.companions.push(companion);
    return (this.writing ??= afterThisTick().then(() => this.writeWaiting()));
  }

  private async writeWaiting(): Promise<void> {
    this.writing = null;
    const isTaken = this.pendingSteps.length === 0 && !this.outbox.hasJournaled;
    // A batch that waited for another one has taken it all along, or may yet, and was lost with it perhaps.
    await (isTaken ? this.taking : this.commit(fence(this.run, this.pendingSteps.length > 0), []));
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

  /** A process that was frozen asks the journal before it does anything to the world. @throws AppError `RUN_FENCED` */
  private async confirm(): Promise<void> {
    // What is not there yet is nobody else's.
    await this.opening;
    let isOurs: boolean;
    try {
      isOurs = await this.journal.isOwner(this.run);
    } catch (cause) {
      throw this.failure(cause);
    }
    if (isOurs) return;
    const error = fenced(this.runId);
    this.controller.abort(error);
    throw error;
  }

  /** @param end what tells that the run leaves off with this batch, and belongs into no other one */
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
      await this.commitWith([condition, ...steps, ...batch.statements, ...statements], companions);
      // Where both are one commit, who listens has heard of the beginning before anything comes of a step.
      if (this.opening) await this.opening;
    } catch (cause) {
      batch.discard();
      throw this.failure(cause);
    }
    batch.publish();
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

  /** What goes with the steps comes last in the batch; what is refused of it is made anew until it holds. */
  private async commitWith(batch: readonly Statement[], companions: readonly StepCompanion[]): Promise<void> {
    for (;;) {
      try {
        return await this.journal.commit([...batch, ...companions.flatMap((companion) => companion.statements())]);
      } catch (cause) {
        if (companions.length === 0 || !isRefusedAfter(cause, batch.length)) throw cause;
        await Promise.all(companions.map((companion) => companion.reconsider()));
      }
    }
  }

  /**
   * Losing the epoch, and a journal that cannot be written, end this execution. Another refusal is a fault of what was
   * to be committed: the run can still end with it.
   */
  private failure(cause: unknown): unknown {
    if (refusalOf(cause) && !isRefusedAtOnce(cause)) return cause;
    const error = refusalOf(cause) ? fenced(this.runId, cause) : journalUnavailable(this.runId, cause);
    this.lost ??= error;
    this.controller.abort(error);
    return error;
  }
}
