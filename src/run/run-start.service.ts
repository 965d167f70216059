import { Injectable } from '@nestjs/common';
import { refusalOf } from '../persistence/index.js';
import { IdempotencyStore } from './intake/idempotency.store.js';
import { checkPrincipal } from './intake/principal.policy.js';
import { RunCapacityRegistry } from './intake/run-capacity.registry.js';
import { RunIntakeService } from './intake/run-intake.service.js';
import { RunBus } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { RunJournal } from './run-journal.js';
import { sessionSlot } from './run-statement.factory.js';
import type { RunStatus, StartRun } from './run.types.js';

/** How long a beginning that nobody looks out for waits for what comes next, in ms: a run that is answered by then is one commit. */
const BEGINNING_WAITS_MS = 2;

/** A run that is journaled; wrapped, so that who awaits the beginning does not await the end. */
export interface BegunRun {
  readonly id: string;
  readonly kind: 'begun' | 'queued';
  /** Its status when its execution ended; `queued` when it was handed over to the next start of the server. */
  readonly done: Promise<RunStatus>;
}

/** A request that has begun its run before, by its idempotency key. */
export interface TwinRun {
  readonly twinOf: string;
}

/** Journals runs and gets them executed: at once where that can be, else in their turn. */
@Injectable()
export class RunStartService {
  /** The last run of each session that is just being journaled: one that comes later must not pass it. */
  private readonly beginning = new Map<string, Promise<unknown>>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly capacity: RunCapacityRegistry,
    private readonly intake: RunIntakeService,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /** Begins a run that somebody waits for. */
  start(start: StartRun): Promise<BegunRun | TwinRun> {
    return this.letIn(start, (keyed) => this.beginInTurn(keyed));
  }

  /** Queues a run that nobody waits for. */
  submit(start: StartRun): Promise<BegunRun | TwinRun> {
    return this.letIn(start, async (keyed) => {
      await this.intake.checkQueue(keyed.principal.tenant);
      const { run } = await this.journal.create(keyed, 'queued', Date.now());
      this.dispatcher.offer(run);
      return { id: run.id, kind: 'queued', done: Promise.resolve('queued') };
    });
  }

  private async letIn(start: StartRun, begin: (keyed: StartRun) => Promise<BegunRun>): Promise<BegunRun | TwinRun> {
    const { tenant } = start.principal;
    checkPrincipal(start.principal);
    return this.dispatcher.admit(async () => {
      const twin = await this.twinOf(start);
      if (twin) return twin;
      await start.check?.();
      try {
        return await this.intake.letIn(tenant, () => begin(this.withKey(start)));
      } catch (error) {
        const late = refusalOf(error) === 'unique' ? await this.twinOf(start) : null;
        if (late) return late;
        throw error;
      }
    });
  }

  private async twinOf({ principal, idempotency }: StartRun): Promise<TwinRun | null> {
    if (!idempotency) return null;
    const twinOf = await this.idempotency.find(principal.tenant, idempotency, Date.now());
    return twinOf === null ? null : { twinOf };
  }

  /** The key is taken in the batch of the run's beginning, which may be refused for it. */
  private withKey(start: StartRun): StartRun {
    const { idempotency, principal, id, statements = [] } = start;
    if (!idempotency) return start;
    const taken = this.idempotency.take(principal.tenant, idempotency, id, Date.now());
    return { ...start, isFirstOfSession: false, statements: [...statements, ...taken] };
  }

  private async beginInTurn(start: StartRun): Promise<BegunRun> {
    const slot = sessionSlot({ tenant: start.principal.tenant, sessionId: start.sessionId });
    if (slot === null) return this.begin(start, slot);
    const begin = () => this.begin(start, slot);
    const begun = this.beginning.get(slot)?.then(begin, begin) ?? begin();
    this.beginning.set(slot, begun);
    try {
      return await begun;
    } finally {
      if (this.beginning.get(slot) === begun) this.beginning.delete(slot);
    }
  }

  private async begin(start: StartRun, slot: string | null): Promise<BegunRun> {
    const occupant = { tenant: start.principal.tenant, agent: start.agent };
    const isBehind = slot !== null && !start.isFirstOfSession && (await this.isAwaited(start));
    if (isBehind || !(await this.capacity.enter(occupant))) return this.queue(start);
    return start.isFirstOfSession ? this.beginAtOnce(start) : this.beginOrQueue(start);
  }

  private async beginOrQueue(start: StartRun): Promise<BegunRun> {
    const { run, items, written } = this.journal.begin(start, Date.now());
    try {
      await written;
    } catch (error) {
      this.capacity.leave(run);
      // A connection that broke does not tell whether the run was begun.
      if (!refusalOf(error)) this.dispatcher.recheck(run);
      if (refusalOf(error) !== 'unique' || (await this.twinOf(start))) throw error;
      return this.queue(start);
    }
    for (const item of items) this.bus.tell(run, item);
    return { id: run.id, kind: 'begun', done: this.dispatcher.execute(run) };
  }

  /** Nothing can refuse it: its model is asked while it is being journaled. Its execution gives the room back, however it ends. */
  private async beginAtOnce(start: StartRun): Promise<BegunRun> {
    const waitsMs = start.isToldWhole ? BEGINNING_WAITS_MS : 0;
    const { run, items, written } = this.journal.begin(start, Date.now(), waitsMs);
    this.journal.budget?.begun({ tenant: run.tenant, runId: run.id, sessionId: run.sessionId });
    const done = this.dispatcher.execute(run, { items, written });
    done.catch(() => undefined);
    await written;
    return { id: run.id, kind: 'begun', done };
  }

  private isAwaited({ principal, sessionId }: StartRun): boolean | Promise<boolean> {
    return this.dispatcher.isAwaited({ tenant: principal.tenant, sessionId });
  }

  /** There is no room, or the session has an open run. */
  private async queue(start: StartRun): Promise<BegunRun> {
    const { principal, sessionId } = start;
    this.intake.checkSession(await this.journal.openOf({ tenant: principal.tenant, sessionId }));
    await this.intake.checkQueue(principal.tenant);
    const { run } = await this.journal.create(start, 'queued', Date.now());
    return { id: run.id, kind: 'queued', done: this.dispatcher.enqueue(run) };
  }
}
