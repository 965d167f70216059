import { Inject, Injectable } from '@nestjs/common';
import { runConfig, type RunConfig } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import { refusalOf } from '../persistence/index.js';
import { IdempotencyStore } from './admission/idempotency.store.js';
import { RunCapacityRegistry } from './admission/run-admission.service.js';
import { RunLoadStore } from './admission/run-load.store.js';
import { RunBus } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunJournal } from './run-journal.js';
import { sessionSlot } from './run-statement.factory.js';
import type { RunRecord, RunStatus, StartRun } from './run.types.js';

const MINUTE_MS = 60_000;
/** Suggested retry delay for a full queue, in ms. */
const QUEUE_RETRY_MS = 5_000;

/** Admission limits: runs per minute of a tenant, and queued runs. */
@Injectable()
export class RunIntakeService {
  private readonly limits: RunConfig;
  /** Admitted runs that are not journaled yet, by tenant. */
  private readonly admitting = new Map<string, number>();

  constructor(
    private readonly load: RunLoadStore,
    @Inject(runConfig.KEY) config: RunConfig,
  ) {
    this.limits = config;
  }

  /**
   * Admits a tenant's run to the journal.
   * @throws AppError `RUN_RATE_LIMITED` when the tenant has reached its limit per minute
   */
  async admit<T>(tenant: string, begin: () => Promise<T>): Promise<T> {
    if (this.limits.tenantRatePerMinute === 0) return begin();
    const admitting = this.admitting.get(tenant) ?? 0;
    this.admitting.set(tenant, admitting + 1);
    try {
      await this.checkRate(tenant, admitting);
      return await begin();
    } finally {
      const left = this.admitting.get(tenant)! - 1;
      if (left === 0) this.admitting.delete(tenant);
      else this.admitting.set(tenant, left);
    }
  }

  /** @throws AppError `RUN_QUEUE_FULL`, `TENANT_QUEUE_FULL` when no more runs can be queued */
  async checkQueue(tenant: string): Promise<void> {
    const { queueLimit, tenantQueueLimit } = this.limits;
    if ((await this.load.queued()) >= queueLimit) {
      throw refused('RUN_QUEUE_FULL', `The run queue is full (${queueLimit} runs); retry later.`);
    }
    if (tenantQueueLimit > 0 && (await this.load.queuedOf(tenant)) >= tenantQueueLimit) {
      const message = `The run queue of this tenant is full (${tenantQueueLimit} runs); retry later.`;
      throw refused('TENANT_QUEUE_FULL', message);
    }
  }

  /**
   * Checks whether a chat may queue behind the open run of its session.
   * @throws AppError `SESSION_BUSY` when that run waits for a decision, or when chats may not queue in a session
   */
  checkSession(open: Pick<RunRecord, 'id' | 'sessionId' | 'status'> | null): void {
    if (!open || (open.status !== 'waiting' && this.limits.sessionBusy === 'queue')) return;
    const { id, sessionId, status } = open;
    const [what, remedy] =
      status === 'waiting'
        ? ['waits for a decision', 'decide or cancel it']
        : ['has not ended', 'wait for it, or cancel it'];
    throw new AppError(
      'SESSION_BUSY',
      `Session "${sessionId}" is held by run "${id}", which ${what}; ${remedy} first.`,
      {
        isRetryable: status !== 'waiting',
        details: { run_id: id },
      },
    );
  }

  private async checkRate(tenant: string, admitting: number): Promise<void> {
    const limit = this.limits.tenantRatePerMinute;
    const now = Date.now();
    const { count, first } = await this.load.startedSince(tenant, now - MINUTE_MS);
    if (count + admitting < limit) return;
    const message = `This tenant has reached its limit of ${limit} new runs per minute; retry later.`;
    throw refused('RUN_RATE_LIMITED', message, (first ?? now) + MINUTE_MS - now);
  }
}

function refused(
  code: 'RUN_RATE_LIMITED' | 'RUN_QUEUE_FULL' | 'TENANT_QUEUE_FULL',
  message: string,
  retryMs = QUEUE_RETRY_MS,
): AppError {
  return new AppError(code, message, { isRetryable: true, details: { retry_after_ms: Math.max(retryMs, 1) } });
}

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

/** Journals runs and has them executed: at once if possible, else in queue order. */
@Injectable()
export class RunStartService {
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

  /** Queues a run without a waiting client. */
  submit(start: StartRun): Promise<StartedRun | ReplayedRun> {
    return this.admit(start, async (keyed) => {
      await this.intake.checkQueue(keyed.principal.tenant);
      const { run } = await this.journal.create(keyed, 'queued', Date.now());
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
      const replayed = await this.replayOf(start);
      if (replayed) return replayed;
      await start.check?.();
      try {
        return await this.intake.admit(tenant, () => begin(this.withKey(start)));
      } catch (error) {
        const late = refusalOf(error) === 'unique' ? await this.replayOf(start) : null;
        if (late) return late;
        // The check gives the reason why a statement of the caller was refused.
        if (refusalOf(error) === 'rows') await start.check?.();
        throw error;
      }
    });
  }

  private async replayOf({ principal, idempotency }: StartRun): Promise<ReplayedRun | null> {
    if (!idempotency) return null;
    const replayOf = await this.idempotency.find(principal, idempotency, Date.now());
    return replayOf === null ? null : { replayOf };
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
    if (isBehind || !(await this.capacity.acquire(occupant))) return this.queue(start);
    return start.isFirstOfSession ? this.startAtOnce(start) : this.startOrQueue(start);
  }

  private async startOrQueue(start: StartRun): Promise<StartedRun> {
    const { run, items, written } = this.journal.begin(start, Date.now());
    try {
      await written;
    } catch (error) {
      this.capacity.release(run);
      // After a broken connection it is unknown whether the run was journaled.
      if (!refusalOf(error)) this.dispatcher.recheck(run);
      if (refusalOf(error) !== 'unique' || (await this.replayOf(start))) throw error;
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
    await written;
    return { id: run.id, kind: 'started', done };
  }

  private isAwaited({ principal, sessionId }: StartRun): boolean | Promise<boolean> {
    return this.dispatcher.isAwaited({ tenant: principal.tenant, sessionId });
  }

  /** For a run without free capacity, or with an open run in its session. */
  private async queue(start: StartRun): Promise<StartedRun> {
    const { principal, sessionId } = start;
    this.intake.checkSession(await this.journal.openOf({ tenant: principal.tenant, sessionId }));
    await this.intake.checkQueue(principal.tenant);
    const { run } = await this.journal.create(start, 'queued', Date.now());
    return { id: run.id, kind: 'queued', done: this.dispatcher.enqueue(run) };
  }
}
