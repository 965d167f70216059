import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { FollowerBacklog, WakeUpExecutor } from './follower-backlog.store.js';
import { FollowerCursor } from './follower-cursor.mapper.js';
import { RunBus } from './run-bus.js';
import { endsStream, isTerminal, type RunEvent } from '../event/run-event.types.js';
import { RunItem, type RunPlace, START } from '../event/run-item.factory.js';
import { RunJournal } from '../run-journal.js';

/** Length of a piece of text for a slow reader, in UTF-16 units. */
const PIECE = 65_536;

/** Splits a long text event into equivalent shorter ones, made one by one as they are read. */
export function* textPieces({ event, at, place }: RunItem): Generator<RunItem, void> {
  if (event.type !== 'message.delta' && event.type !== 'step.restarted') return;
  const { text, iteration } = event;
  for (let start = 0; start === 0 || start < text.length; start += PIECE) {
    const end = Math.min(start + PIECE, text.length);
    const type = start === 0 ? event.type : 'message.delta';
    const offset = place.offset - text.length + end;
    yield new RunItem(null, at, { type, iteration, text: text.slice(start, end) }, undefined, { ...place, offset });
  }
}

/**
 * Splits a text event into equivalent shorter ones, for a bus that carries only short messages. Other items are
 * unchanged.
 * @param longest maximum length of an event's JSON, in UTF-16 units; more than a few hundred
 */
export function inPieces(item: RunItem, longest: number): RunItem[] {
  const { event, at, place } = item;
  const isText = event.type === 'message.delta' || event.type === 'step.restarted';
  if (!isText || item.data.length <= longest) return [item];
  const half = Math.ceil(event.text.length / 2);
  const first: RunEvent = { ...event, text: event.text.slice(0, half) };
  const second: RunEvent = { type: 'message.delta', iteration: event.iteration, text: event.text.slice(half) };
  const middle = { ...place, offset: place.offset - second.text.length };
  return [
    ...inPieces(new RunItem(null, at, first, undefined, middle), longest),
    ...inPieces(new RunItem(null, at, second, undefined, place), longest),
  ];
}

/** Events that a slow reader reads at once from the journal: it may hold them for some time. */
const SLOW_PAGE = 20;
/** Longest time until a lost message of the bus is noticed, in ms. */
const CHECK_AGAIN_MS = 2_000;

/** An open subscription to a run. */
export interface Following {
  /**
   * The run's items after a place: recorded events, the rest of the streamed message, then live items. A slow reader gets
   * the same items from the journal. Ends after the event that ends the stream, or when `signal` is aborted.
   * @param from the follower's last place; `START` for all items
   */
  items(from: RunPlace, signal: AbortSignal): AsyncGenerator<RunItem, void>;
  close(): void;
}

interface LiveSnapshot {
  /** The number of the last journaled event. */
  readonly last: number;
  /** The text so far of the streamed message. */
  readonly text: RunItem | null;
  /** The number of the last event before that message. */
  readonly begin: number;
  readonly isRestart: boolean;
}

interface Listening {
  readonly runId: string;
  readonly backlog: FollowerBacklog;
  readonly unsubscribe: () => void;
  /**
   * The published state at the subscription, if this process executed the run then. The backlog has all later items.
   */
  live: LiveSnapshot | null;
}

/** Follows a run from any place, without gaps or repetitions. */
@Injectable()
export class RunFollowService {
  private readonly wakeUps = new WakeUpExecutor();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
  ) {}

  /** Subscribes at once: items before the first read of `items` are not lost. Close it, or read it to its end. */
  open(runId: string): Following {
    const backlog = new FollowerBacklog(this.wakeUps);
    const unsubscribe = this.bus.subscribe(runId, (item) => backlog.push(item));
    const listening = { runId, backlog, unsubscribe, live: this.snapshot(runId) };
    return { close: unsubscribe, items: (from, signal) => this.items(listening, from, signal) };
  }

  /** All recorded events after a number, up to another. */
  async *recorded(
    runId: string,
    after: number,
    upTo = Number.MAX_SAFE_INTEGER,
    pageSize?: number,
  ): AsyncGenerator<RunItem, void> {
    for (let last = after; last < upTo;) {
      const page = await this.journal.events(runId, last, pageSize);
      for (const item of page) if (item.place.n <= upTo) yield item;
      const end = page.at(-1);
      if (!end) return;
      last = end.place.n;
    }
  }

  /**
   * Resolves when the run has a recorded event after a number, also if it waits until then, or when `signal` is aborted.
   */
  async beyond(runId: string, n: number, signal: AbortSignal): Promise<void> {
    for (let isDone = false; !isDone && !signal.aborted;) {
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      const unsubscribe = this.bus.subscribe(runId, () => resolve());
      try {
        isDone = (await this.journal.lastEvent(runId)) > n;
        // Also when another process publishes the event and its message is lost.
        const late = delay(CHECK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
        if (!isDone) await Promise.race([arrived, late]);
      } finally {
        unsubscribe();
      }
    }
  }

  private snapshot(runId: string): LiveSnapshot | null {
    const run = this.bus.live.find(runId);
    if (!run) return null;
    const { last, message } = run;
    return { last, text: run.soFar(), begin: message?.begin ?? 0, isRestart: message?.isRestart ?? false };
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

  /** @returns the cursor for the backlog; `null` at the end of the stream */
  private async *caughtUp(listening: Listening, from: RunPlace): AsyncGenerator<RunItem, FollowerCursor | null> {
    const { runId, backlog, live } = listening;
    if (!live) {
      const last = from.n === 0 ? 0 : await this.journal.lastEvent(runId);
      const cursor = new FollowerCursor(within(from, last), false);
      const hasMore = backlog.holdsAllAfter(cursor.n) || (yield* this.recordedSoFar(listening, cursor));
      return hasMore ? cursor : null;
    }
    const { last, begin, isRestart } = live;
    const cursor = new FollowerCursor(within(from, last), true);
    for await (const item of this.recorded(runId, cursor.n, last)) if (cursor.take(item)) yield item;
    const text = live.text && cursor.take(live.text, isRestart || from.n > begin);
    // Release the text: it may be long, and the follower may stay for hours.
    listening.live = null;
    if (text) yield text;
    return cursor;
  }

  /** The journaled events of a run in any status. @returns whether more items may follow */
  private async *recordedSoFar(
    { runId, backlog }: Listening,
    cursor: FollowerCursor,
  ): AsyncGenerator<RunItem, boolean> {
    for (let mayContinue = true; ; mayContinue = false) {
      for await (const item of this.recorded(runId, cursor.n)) {
        if (cursor.take(item)) yield item;
        if (isTerminal(item.event)) return false;
      }
      if (!mayContinue) return false;
      if (backlog.reachesBeyond(cursor.n) || (await this.isUnfinished(runId))) return true;
      // The run stopped after the journal was read, or long ago: read the journal once more, to its end.
    }
  }

  private async isUnfinished(runId: string): Promise<boolean> {
    const run = await this.journal.find(runId);
    return run?.status === 'queued' || run?.status === 'running';
  }

  /** Live items, up to the event that ends the stream. */
  private async *live(listening: Listening, cursor: FollowerCursor): AsyncGenerator<RunItem, void> {
    const { runId, backlog } = listening;
    while (await backlog.arrival()) {
      if (backlog.isBehind && !(yield* this.dropped(listening, cursor))) return;
      for (let item = backlog.take(); item; item = backlog.take()) {
        // The journal has the items that the bus lost.
        if (item.n !== null && item.n > cursor.n + 1) yield* this.missed(runId, cursor, item.n - 1);
        const fresh = cursor.take(item);
        if (fresh) yield fresh;
        if (fresh && endsStream(fresh.event)) return;
      }
    }
  }

  /** The items that the backlog has dropped. @returns whether more items may follow */
  private async *dropped({ runId, backlog }: Listening, cursor: FollowerCursor): AsyncGenerator<RunItem, boolean> {
    // Together: the backlog gets all items after the snapshot.
    backlog.resume();
    const live = this.snapshot(runId);
    for await (const item of this.recorded(runId, cursor.n, live?.last, SLOW_PAGE)) {
      if (!cursor.take(item)) continue;
      yield item;
      if (endsStream(item.event)) return false;
    }
    const text = live?.text && cursor.take(live.text, live.isRestart);
    if (text) yield* textPieces(text);
    return true;
  }

  private async *missed(runId: string, cursor: FollowerCursor, upTo: number): AsyncGenerator<RunItem, void> {
    for await (const item of this.recorded(runId, cursor.n, upTo)) if (cursor.take(item)) yield item;
  }
}

/** Limits the place that a follower claims to the last place of the run. */
function within(from: RunPlace, last: number): RunPlace {
  return from.n > last ? { ...START, n: last } : from;
}
