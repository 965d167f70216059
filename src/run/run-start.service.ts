import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import { isStorageUnavailable, refusalOf } from '../persistence/index.js';
import { IdempotencyStore } from './admission/idempotency.store.js';
import { type Occupant, RunCapacityRegistry } from './admission/run-capacity.registry.js';
import { RunIntakeService } from './admission/run-admission.service.js';
import { RunBus } from './follow/run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunJournal } from './run-journal.js';
import { sessionSlot } from './run-statement.factory.js';
import type { RunRecord, RunStatus, StartRun } from './run.types.js';

/** Characters that every database stores unchanged; a line break separates the parts of a session's slot. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

/** @throws AppError `VALIDATION_FAILED` when the application supplied an invalid principal id or tenant */
function checkPrincipal({ id, tenant }: Principal): void {
  for (const [field, name] of Object.entries({ id, tenant })) {
    if (NAME.test(name)) continue;
    const message = `The principal's ${field} must be 1 to 128 characters, without control characters.`;
    throw new AppError('VALIDATION_FAILED', message, {
      details: { errors: [fieldMistake(`principal.${field}`, message, 'isName', name)] },
    });
  }
}

function keyOf({ principal, idempotency }: StartRun): string | null {
  return idempotency ? JSON.stringify([principal.tenant, principal.id, idempotency.key]) : null;
}

/** Group-commit delay (ms) for an unobserved run start: a run that is answered within it costs one commit. */
const START_WAITS_MS = 2;

/** A journaled run; wrapped in an object, so that awaiting the start does not await the end. */
export interface StartedRun {
  readonly id: string;
  readonly kind: 'started' | 'queued';
  /** The status when its execution ended; `queued` when it was handed over to the next start of the server. */
  readonly done: Promise<RunStatus>;
}

/** The run that an earlier request with the same idempotency key started. */
export interface ReplayedRun {
  readonly replayOf: string;
}

/** The error of a start that the database did not confirm. */
function unconfirmedRun(runId: string, cause: unknown): AppError {
  return new AppError(
    'STORAGE_UNAVAILABLE',
    `The database failed before it confirmed the run "${runId}": it is executed if it was stored; read GET /api/runs/${runId}.`,
    { cause, details: { run_id: runId, is_retryable: false } },
  );
}

/** Journals runs and has them executed: at once if possible, else in queue order. */
@Injectable()
export class RunStartService {
  /** The starts of requests with an idempotency key. */
  private readonly starts = new Map<string, Promise<StartedRun>>();
  /** The last run of each session that is being journaled; a later run must not overtake it. */
  private readonly starting = new Map<string, Promise<unknown>>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly capacity: RunCapacityRegistry,
    private readonly intake: RunIntakeService,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /** Starts a run whose end a client waits for. */
  start(start: StartRun): Promise<StartedRun | ReplayedRun> {
    return this.admit(start, (keyed) => this.startInOrder(keyed));
  }

  /** Refuses a request before its body is read. @throws AppError `RUN_QUEUE_FULL` */
  checkWait(): void {
    this.capacity.checkWait();
  }

  /** Queues a run without a waiting client. */
  submit(start: StartRun): Promise<StartedRun | ReplayedRun> {
    return this.admit(start, async (keyed) => {
      await this.intake.checkQueue(keyed.principal.tenant);
      const run = await this.create({ ...keyed, isPatient: true });
      this.dispatcher.offer(run);
      return { id: run.id, kind: 'queued', done: Promise.resolve('queued') };
    });
  }

  private async admit(
    start: StartRun,
    begin: (keyed: StartRun) => Promise<StartedRun>,
  ): Promise<StartedRun | ReplayedRun> {
    const { tenant } = start.principal;
    checkPrincipal(start.principal);
    return this.dispatcher.admit(async () => {
      const replayed = (await this.replayOf(start)) ?? (await this.duplicateOf(start));
      if (replayed) return replayed;
      await start.check?.();
      try {
        return await this.intake.admit(tenant, () => this.once(start, () => begin(this.withKey(start))));
      } catch (error) {
        const late = refusalOf(error) === 'unique' ? await this.replayOf(start) : null;
        if (late) return late;
        // The check gives the reason why a statement of the caller was refused.
        if (refusalOf(error) === 'rows') await start.check?.();
        throw error;
      }
    }, start.input.length);
  }

  private async replayOf({ principal, idempotency }: StartRun): Promise<ReplayedRun | null> {
    if (!idempotency) return null;
    const replayOf = await this.idempotency.find(principal, idempotency, Date.now());
    return replayOf === null ? null : { replayOf };
  }

  /** The run that a request with the same key is starting in this process. @throws the error of that start */
  private async duplicateOf(start: StartRun): Promise<ReplayedRun | null> {
    const started = this.starts.get(keyOf(start) ?? '');
    if (!started) return null;
    await started.catch((error: unknown) => {
      // Another process was faster.
      if (refusalOf(error) !== 'unique') throw error;
    });
    return this.replayOf(start);
  }

  /** Starts a run, for which duplicates of its request wait. */
  private async once(start: StartRun, begin: () => Promise<StartedRun>): Promise<StartedRun> {
    const key = keyOf(start);
    if (key === null) return begin();
    const started = begin();
    this.starts.set(key, started);
    try {
      return await started;
    } finally {
      this.starts.delete(key);
    }
  }

  /** The key is stored in the batch of the run's start, which a used key rejects. */
  private withKey(start: StartRun): StartRun {
    const { idempotency, principal, id, statements = [] } = start;
    if (!idempotency) return start;
    const keyStatements = this.idempotency.take(principal, idempotency, id, Date.now());
    return { ...start, isFirstOfSession: false, statements: [...statements, ...keyStatements] };
  }

  private async startInOrder(start: StartRun): Promise<StartedRun> {
    const slot = sessionSlot({ tenant: start.principal.tenant, sessionId: start.sessionId });
    if (slot === null) return this.begin(start, slot);
    const begin = () => this.begin(start, slot);
    const started = this.starting.get(slot)?.then(begin, begin) ?? begin();
    this.starting.set(slot, started);
    try {
      return await started;
    } finally {
      if (this.starting.get(slot) === started) this.starting.delete(slot);
    }
  }

  private async begin(start: StartRun, slot: string | null): Promise<StartedRun> {
    const occupant = { tenant: start.principal.tenant, agent: start.agent };
    const isBehind = slot !== null && !start.isFirstOfSession && (await this.isAwaited(start));
    if (isBehind || !(await this.acquire(occupant, start))) return this.queue(start);
    return start.isFirstOfSession ? this.startAtOnce(start) : this.startOrQueue(start);
  }

  /** Reserves capacity for a run; without it a client waits in memory, but behind its session's run in the queue. */
  private async acquire(occupant: Occupant, { wait, sessionId, isFirstOfSession }: StartRun): Promise<boolean> {
    if (!wait) return this.capacity.acquire(occupant);
    const isBehind = async () => (await this.journal.openOf({ tenant: occupant.tenant, sessionId })) !== null;
    if (!this.capacity.isTaken || isFirstOfSession || !(await isBehind())) {
      return this.capacity.acquireFor(occupant, wait);
    }
    return false;
  }

  private async startOrQueue(start: StartRun): Promise<StartedRun> {
    const { run, items, written } = this.journal.begin(start, Date.now());
    try {
      await written;
    } catch (error) {
      this.capacity.release(run);
      if (refusalOf(error) !== 'unique' || (await this.replayOf(start))) throw this.startFailure(run, error);
      return this.queue(start);
    }
    for (const item of items) this.bus.emit(run, item);
    return { id: run.id, kind: 'started', done: this.dispatcher.execute(run) };
  }

  /**
   * The start cannot be refused, so the model call runs while the start is journaled. The execution releases the
   * capacity.
   */
  private async startAtOnce(start: StartRun): Promise<StartedRun> {
    const waitsMs = start.isPublishedWhole ? START_WAITS_MS : 0;
    const { run, items, written } = this.journal.begin(start, Date.now(), waitsMs);
    this.journal.budget.onStarted({ tenant: run.tenant, runId: run.id, sessionId: run.sessionId });
    const done = this.dispatcher.execute(run, { items, written });
    done.catch(() => undefined);
    await written.catch((error: unknown) => {
      throw this.startFailure(run, error);
    });
    return { id: run.id, kind: 'started', done };
  }

  /**
   * The error of a run whose start failed. If it is unknown whether the run is journaled, the error names the run; a run
   * that is journaled is executed when the database is available.
   */
  private startFailure(run: RunRecord, error: unknown): unknown {
    if (refusalOf(error) || (isStorageUnavailable(error) && error.isRetryable)) return error;
    this.dispatcher.recheck(run);
    return isStorageUnavailable(error) ? unconfirmedRun(run.id, error) : error;
  }

  private isAwaited({ principal, sessionId }: StartRun): boolean | Promise<boolean> {
    return this.dispatcher.isAwaited({ tenant: principal.tenant, sessionId });
  }

  /** For a run without free capacity, or with an open run in its session. */
  private async queue(start: StartRun): Promise<StartedRun> {
    const { principal, sessionId } = start;
    this.intake.checkSession(await this.journal.openOf({ tenant: principal.tenant, sessionId }));
    await this.intake.checkQueue(principal.tenant);
    const run = await this.create(start);
    return { id: run.id, kind: 'queued', done: this.dispatcher.enqueue(run) };
  }

  private async create(start: StartRun): Promise<RunRecord> {
    const { run, written } = this.journal.begin(start, Date.now(), 0, 'queued');
    await written.catch((error: unknown) => {
      throw this.startFailure(run, error);
    });
    return run;
  }
}
