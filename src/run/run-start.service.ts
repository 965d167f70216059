import { Injectable } from '@nestjs/common';
import { refusalOf } from '../persistence/index.js';
import { IdempotencyStore } from './admission/idempotency.store.js';
import { checkPrincipal } from './admission/principal.policy.js';
import { RunCapacityRegistry } from './admission/run-capacity.registry.js';
import { RunIntakeService } from './admission/run-intake.service.js';
import { RunBus } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunJournal } from './run-journal.js';
import { sessionSlot } from './run-statement.factory.js';
import type { RunStatus, StartRun } from './run.types.js';

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
