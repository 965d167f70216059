import { Injectable } from '@nestjs/common';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../errors/index.js';
import { steadyNow } from '../../kernel/index.js';
import { WaitingRunStore } from '../decision/waiting-run.store.js';
import { isPostponed, isRelinquished, outageOf } from '../context/execution-end.js';
import { RunBus } from '../follow/run-bus.js';
import { RunCancelService } from '../run-cancel.service.js';
import { RunDispatcher } from '../run-dispatcher.js';
import { endsStream, isTerminal } from '../event/run-event.types.js';
import { RunJournal } from '../run-journal.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunRecord } from '../run.types.js';
import type { ChildCall, ChildStatus } from './child-run.types.js';
import { ChildStartService } from './child-start.service.js';

/** Longest time until a lost bus message is noticed, in ms. */
const CHECK_AGAIN_MS = 2_000;

/** Waits for a run to end, to wait, or to be abandoned by its node. */
class ChildNews {
  private readonly controller = new AbortController();
  private readonly stopped: Promise<void>;
  /** Makes the caller read the run again. */
  readonly arrived: () => void;
  private readonly unsubscribe: () => void;

  constructor(bus: RunBus, runId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.arrived = resolve;
    this.unsubscribe = bus.subscribe(runId, ({ event }) => void (endsStream(event) && resolve()));
  }

  /** Resolves when the run must be read again: an event arrived, the signal is aborted, or the time is up. */
  async arrival(signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal;
    const late = setTimeout(CHECK_AGAIN_MS, undefined, { signal: stop, ref: false }).catch(() => undefined);
    await Promise.race([this.stopped, late]);
  }

  close(): void {
    this.controller.abort();
    this.unsubscribe();
  }
}

/** Time for a child run to stop after a cancel, in ms. */
const STOP_WAIT_MS = 5_000;

/** Waits for child runs, on the node that executes the parent. */
@Injectable()
export class ChildJoinService {
  /** Waits for news of children, by run id. */
  private readonly listening = new Map<string, Set<ChildNews>>();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly dispatcher: RunDispatcher,
    private readonly starter: ChildStartService,
    private readonly waiting: WaitingRunStore,
    private readonly cancels: RunCancelService,
  ) {}

  /**
   * Starts the child run of a call, or joins it if it was started before. Resolves when the child has ended or waits
   * for a decision. When the parent is cancelled or times out, the child is cancelled first.
   * @throws the signal's reason when the parent's execution is abandoned; the maker's error when the run cannot be
   *   created
   */
  async join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStatus> {
    /** The epoch of the child when this call started or adopted it: a postponed child is started once per call. */
    let startedAt: number | null = null;
    for (;;) {
      const news = this.listen(call.id);
      try {
        if (signal.aborted) return await this.stop(call.id, signal);
        const child = await this.journal.find(call.id);
        const status = child && (await this.restOf(child, startedAt));
        if (status) return status;
        startedAt ??= child?.epoch ?? 0;
        if (child) this.dispatcher.adopt(child);
        else await this.starter.start(parent, call);
        await news.arrival(signal);
      } finally {
        this.unlisten(call.id, news);
      }
    }
  }

  /** The end of a child run; `null` if it has not ended. */
  async ended(runId: string): Promise<ChildStatus | null> {
    const child = await this.journal.find(runId);
    return child && !isOpen(child.status) ? this.endOf(child) : null;
  }

  /** Makes this process read a postponed child again, which publishes no event. */
  postponed(runId: string): void {
    for (const news of this.listening.get(runId) ?? []) news.arrived();
  }

  /** The status of a child that does not execute; `null` for one that does, or that must be started. */
  private async restOf(child: RunRecord, startedAt: number | null): Promise<ChildStatus | null> {
    if (!isOpen(child.status)) return this.endOf(child);
    if (child.status === 'waiting') return { kind: 'waiting', requests: await this.waiting.requests(child.id) };
    const isTried = startedAt !== null && child.epoch > startedAt;
    return isTried && isPostponed(child) ? { kind: 'waiting', requests: [], outage: outageOf(child) } : null;
  }

  private listen(runId: string): ChildNews {
    const news = new ChildNews(this.bus, runId);
    const listening = this.listening.get(runId) ?? new Set();
    this.listening.set(runId, listening.add(news));
    return news;
  }

  private unlisten(runId: string, news: ChildNews): void {
    news.close();
    const listening = this.listening.get(runId);
    if (listening?.delete(news) && listening.size === 0) this.listening.delete(runId);
  }

  /** Cancels the run, and waits up to 5 s for its end. */
  private async stop(runId: string, signal: AbortSignal): Promise<ChildStatus> {
    if (isRelinquished(signal)) throw signal.reason;
    await this.cancels.cancel(runId);
    for (const by = steadyNow() + STOP_WAIT_MS; steadyNow() < by;) {
      const news = new ChildNews(this.bus, runId);
      try {
        const child = await this.journal.find(runId);
        if (!child) break;
        if (!isOpen(child.status)) return await this.endOf(child);
        this.dispatcher.adopt(child);
        await news.arrival();
      } finally {
        news.close();
      }
    }
    throw signal.reason;
  }

  private async endOf({ id, agent, createdAt, finishedAt }: RunRecord): Promise<ChildStatus> {
    const last = await this.journal.lastEvent(id);
    const [item] = await this.journal.events(id, last - 1);
    if (item && isTerminal(item.event)) {
      return { kind: 'ended', end: item.event, agent, durationMs: (finishedAt ?? createdAt) - createdAt };
    }
    throw new AppError('INTERNAL', `Run "${id}" has ended without a terminal event in its journal.`);
  }
}
