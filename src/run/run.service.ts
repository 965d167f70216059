import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../common/index.js';
import { refusalOf } from '../persistence/index.js';
import { RunBus, type RunListener } from './run-bus.js';
import { RunDispatcher } from './run-dispatcher.js';
import { NO_USAGE, type RunCancelled } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { isOpen, RunJournal } from './run-journal.js';
import { sessionSlot } from './run-statement.factory.js';
import type { RunRecord, RunStatus, StartRun } from './run.types.js';

/** A run that was started here. */
export interface RunHandle {
  readonly id: string;
  /** Its status when its execution ended; `queued` when it was handed over to the next start of the server. */
  readonly done: Promise<RunStatus>;
}

/** A run that is journaled; wrapped, so that who awaits the beginning does not await the end. */
interface Begun {
  readonly done: Promise<RunStatus>;
}

/** The public face of runs: start, look up, cancel. */
@Injectable()
export class RunService {
  /** The last run of each session that is just being journaled: one that comes later must not pass it. */
  private readonly beginning = new Map<string, Promise<unknown>>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
  ) {}

  /**
   * Journals a run and executes it at once; when its session has a running run, it queues behind that one.
   * @param listener gets everything the run tells, from its first event on
   * @throws AppError `SESSION_BUSY` when the session's run waits for a person, `SHUTTING_DOWN`
   */
  async start(start: StartRun, listener?: RunListener): Promise<RunHandle> {
    const unsubscribe = listener ? this.bus.subscribe(start.id, listener) : () => undefined;
    try {
      const { done } = await this.dispatcher.admit(() => this.beginInTurn(start));
      const ended = done.finally(unsubscribe);
      // Who only follows the run does not wait for its end, and its failure is logged where it happens.
      ended.catch(() => undefined);
      return { id: start.id, done: ended };
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  /** @throws AppError `RUN_NOT_FOUND`, also for another tenant's run */
  async get(principal: Principal, id: string): Promise<RunRecord> {
    const run = await this.journal.findOf(principal.tenant, id);
    if (!run) throw new AppError('RUN_NOT_FOUND', `There is no run "${id}".`);
    return run;
  }

  /** Goes on with every run that an earlier process left unfinished; call it once, when the application is ready. */
  recover(): Promise<void> {
    return this.dispatcher.recover();
  }

  /**
   * Asks for a run to be cancelled; a run that has already ended stays as it is.
   * @throws AppError `RUN_NOT_FOUND`, `RUN_NOT_CANCELLABLE` when it has ended
   */
  async cancel(principal: Principal, id: string): Promise<RunRecord> {
    let run = await this.get(principal, id);
    // A run may change its status between being read and being asked.
    while (isOpen(run.status)) {
      const isAsked = await this.requestCancel(run);
      run = await this.get(principal, id);
      if (!isAsked) continue;
      this.bus.wake(id);
      return run;
    }
    throw new AppError('RUN_NOT_CANCELLABLE', `Run "${id}" has already ended: it is ${run.status}.`, {
      details: { run_status: run.status },
    });
  }

  private async beginInTurn(start: StartRun): Promise<Begun> {
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

  private async begin(start: StartRun, slot: string | null): Promise<Begun> {
    if (slot !== null && this.dispatcher.isAwaited(slot)) return this.queueBehind(start, slot);
    try {
      const { run, items } = await this.journal.create(start, 'running', Date.now());
      for (const item of items) this.bus.publish(run.id, item);
      return { done: this.dispatcher.execute(run) };
    } catch (error) {
      if (refusalOf(error) !== 'unique') throw error;
      return this.queueBehind(start, slot);
    }
  }

  /** The session has an open run: one that runs is waited for, one that waits for a person is not. */
  private async queueBehind(start: StartRun, slot: string | null): Promise<Begun> {
    const holder = slot === null ? null : await this.journal.holder(slot);
    if (holder?.status === 'waiting') {
      throw new AppError(
        'SESSION_BUSY',
        `Session "${start.sessionId}" is held by run "${holder.id}", which waits for a decision; decide or cancel it first.`,
        { details: { run_id: holder.id } },
      );
    }
    const { run } = await this.journal.create(start, 'queued', Date.now());
    return { done: this.dispatcher.enqueue(run) };
  }

  /** @returns whether the run was still as it was read */
  private async requestCancel(run: RunRecord): Promise<boolean> {
    const now = Date.now();
    try {
      if (run.status === 'waiting') await this.journal.cancelWaiting(run, now);
      else if (run.status === 'queued' && run.epoch === 0) await this.cancelQueued(run, now);
      else await this.journal.requestCancel(run, now);
      return true;
    } catch (error) {
      if (refusalOf(error)) return false;
      throw error;
    }
  }

  private async cancelQueued(run: RunRecord, now: number): Promise<void> {
    const event: RunCancelled = {
      type: 'run.cancelled',
      run_id: run.id,
      result: '',
      finish_reason: 'cancelled',
      is_complete: false,
      iterations: 0,
      usage: NO_USAGE,
      model: '',
    };
    const item = new RunItem(1, now, event);
    await this.journal.cancelQueued(run, item);
    this.bus.publish(run.id, item);
  }
}
