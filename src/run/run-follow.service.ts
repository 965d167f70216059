import { Injectable } from '@nestjs/common';
import { FollowerBacklog } from './follow/follower-backlog.store.js';
import { FollowerCursor } from './follow/follower-cursor.mapper.js';
import { WakeUpExecutor } from './follow/wake-up.executor.js';
import { START, type RunPlace } from './follow/run-place.parser.js';
import { endsStream, isTerminal } from './run-event.types.js';
import { RunBus } from './run-bus.js';
import { RunItem } from './run-item.factory.js';
import { RunJournal } from './run-journal.js';

/** A follower that listens. */
export interface Following {
  /**
   * What the run tells after a place: what is recorded, the rest of the message that is being told, then what happens.
   * Ends after the event that ends the stream, when `signal` is aborted, or when the reader has fallen too far behind.
   * @param from the place that the follower has reached; `START` for all
   */
  items(from: RunPlace, signal: AbortSignal): AsyncGenerator<RunItem, void>;
  close(): void;
}

interface ToldSoFar {
  /** The number of the last journaled event. */
  readonly told: number;
  /** The text of the message that was being told. */
  readonly text: RunItem | null;
  /** The number of the event before that message. */
  readonly begin: number;
  readonly isRestart: boolean;
}

interface Listening {
  readonly runId: string;
  readonly backlog: FollowerBacklog;
  readonly unsubscribe: () => void;
  /** What had gone out when it began to listen, if the run was executed here then: the backlog has all that came after. */
  live: ToldSoFar | null;
}

/** Follows a run from any place, without a gap or a repetition. */
@Injectable()
export class RunFollowService {
  private readonly wakeUps = new WakeUpExecutor();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
  ) {}

  /** Begins to listen at once, so that what happens before `items` is read is not lost. Close it, or read it to its end. */
  open(runId: string): Following {
    const backlog = new FollowerBacklog(runId, this.wakeUps);
    const unsubscribe = this.bus.subscribe(runId, (item) => backlog.push(item));
    const listening = { runId, backlog, unsubscribe, live: this.toldSoFar(runId) };
    return { close: unsubscribe, items: (from, signal) => this.items(listening, from, signal) };
  }

  /** All recorded events after a place, up to another. */
  async *recorded(runId: string, after: number, upTo = Number.MAX_SAFE_INTEGER): AsyncGenerator<RunItem, void> {
    for (let last = after; last < upTo;) {
      const page = await this.journal.events(runId, last);
      for (const item of page) if (item.place.n <= upTo) yield item;
      const end = page.at(-1);
      if (!end) return;
      last = end.place.n;
    }
  }

  private toldSoFar(runId: string): ToldSoFar | null {
    const run = this.bus.live.find(runId);
    if (!run) return null;
    const { told, message } = run;
    return { told, text: run.soFar(), begin: message?.begin ?? 0, isRestart: message?.isRestart ?? false };
  }

  private async *items(listening: Listening, from: RunPlace, signal: AbortSignal): AsyncGenerator<RunItem, void> {
    const { backlog, unsubscribe } = listening;
    const stop = () => backlog.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const cursor = yield* this.caughtUp(listening, from);
      if (cursor) yield* this.live(listening, cursor);
    } finally {
      signal.removeEventListener('abort', stop);
      unsubscribe();
    }
  }

  /** @returns where the backlog goes on; `null` when nothing more comes */
  private async *caughtUp(listening: Listening, from: RunPlace): AsyncGenerator<RunItem, FollowerCursor | null> {
    const { runId, backlog, live } = listening;
    if (!live) {
      const last = from.n === 0 ? 0 : await this.journal.lastEvent(runId);
      const cursor = new FollowerCursor(within(from, last), false);
      const goesOn = backlog.holdsAllAfter(cursor.n) || (yield* this.recordedSoFar(listening, cursor));
      return goesOn ? cursor : null;
    }
    const { told, begin, isRestart } = live;
    const cursor = new FollowerCursor(within(from, told), true);
    for await (const item of this.recorded(runId, cursor.n, told)) if (cursor.take(item)) yield item;
    const text = live.text && cursor.take(live.text, isRestart || from.n > begin);
    // The text may be long, and the follower stay for hours.
    listening.live = null;
    if (text) yield text;
    return cursor;
  }

  /** What the journal has of a run that may be anywhere in its life. @returns whether more may come */
  private async *recordedSoFar(
    { runId, backlog }: Listening,
    cursor: FollowerCursor,
  ): AsyncGenerator<RunItem, boolean> {
    for (let mayGoOn = true; ; mayGoOn = false) {
      for await (const item of this.recorded(runId, cursor.n)) {
        if (cursor.take(item)) yield item;
        if (isTerminal(item.event)) return false;
      }
      if (!mayGoOn) return false;
      if (backlog.reachesBeyond(cursor.n) || (await this.isGoingOn(runId))) return true;
      // It stopped after the journal was read, or long ago: what is recorded now is all there is.
    }
  }

  private async isGoingOn(runId: string): Promise<boolean> {
    const run = await this.journal.find(runId);
    return run?.status === 'queued' || run?.status === 'running';
  }

  /** What happens, to the event that ends the stream. */
  private async *live({ runId, backlog }: Listening, cursor: FollowerCursor): AsyncGenerator<RunItem, void> {
    while (await backlog.arrival()) {
      for (let item = backlog.take(); item; item = backlog.take()) {
        // What a bus loses, the journal has.
        if (item.n !== null && item.n > cursor.n + 1) yield* this.missed(runId, cursor, item.n - 1);
        const told = cursor.take(item);
        if (told) yield told;
        if (told && endsStream(told.event)) return;
      }
    }
  }

  private async *missed(runId: string, cursor: FollowerCursor, upTo: number): AsyncGenerator<RunItem, void> {
    for await (const item of this.recorded(runId, cursor.n, upTo)) if (cursor.take(item)) yield item;
  }
}

/** A follower may claim a place that the run has not reached. */
function within(from: RunPlace, last: number): RunPlace {
  return from.n > last ? { ...START, n: last } : from;
}
