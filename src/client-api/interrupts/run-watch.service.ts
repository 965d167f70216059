import { Injectable } from '@nestjs/common';
import { AgentService } from '../../agent/index.js';
import type { Principal } from '../../kernel/index.js';
import type { RunEvent, RunItem } from '../../run/event/index.js';
import { RunFollowService } from '../../run/follow/index.js';
import type { ClientWait } from './interrupt.js';
import { RunWaitService } from './run-wait.service.js';

/** The position from which a run is followed. */
export interface WatchedRun {
  readonly id: string;
  /** The items after the event `after`. */
  readonly items: AsyncGenerator<RunItem, void>;
  readonly after: number;
  /** Number of the last event with which the run waited for decisions that were made since. */
  readonly waitedAt?: number;
}

/** An event of a run; with `run.waiting` also the decisions that the run waits for. */
export interface WatchedEvent {
  readonly event: RunEvent;
  /** Time of the event, epoch ms. */
  readonly at: number;
  readonly wait?: ClientWait;
}

/** Follows runs across waits from which they resume by themselves, when a run below them has ended. */
@Injectable()
export class RunWatchService {
  constructor(
    private readonly agents: AgentService,
    private readonly follower: RunFollowService,
    private readonly waits: RunWaitService,
  ) {}

  /**
   * The events of a run, up to its end or to a wait for the client.
   * @param signal ends the events, not the run
   */
  async *events(principal: Principal, run: WatchedRun, signal: AbortSignal): AsyncGenerator<WatchedEvent, void> {
    // Only a run below was decided: it may wait again while this run still waits for it.
    const waited = run.waitedAt === undefined ? undefined : await this.waits.currentWait(principal, run.id, signal);
    if (waited) return yield { ...waited, at: Date.now() };
    for await (const { event, at } of this.items(run, signal)) {
      const wait = event.type === 'run.waiting' ? await this.waits.waitOf(principal, event, signal) : undefined;
      if (event.type !== 'run.waiting' || wait) yield { event, at, ...(wait && { wait }) };
      if (wait) return;
    }
  }

  /** The items of a run that waits, as soon as it has resumed: after the event `n`. */
  async *resumed(runId: string, n: number, signal: AbortSignal): AsyncGenerator<RunItem, void> {
    await this.follower.beyond(runId, n, signal);
    yield* this.agents.follow(runId, n, signal);
  }

  private async *items(
    { id, items, after, waitedAt = 0 }: WatchedRun,
    signal: AbortSignal,
  ): AsyncGenerator<RunItem, void> {
    let last = after;
    let isPaused = waitedAt > 0;
    for (let rest = items; ; rest = this.agents.follow(id, last, signal)) {
      for await (const item of rest) {
        isPaused = item.event.type === 'run.waiting';
        last = item.n ?? last;
        if (!isPaused || last > waitedAt) yield item;
      }
      if (!isPaused || signal.aborted) return;
      await this.follower.beyond(id, last, signal);
    }
  }
}
