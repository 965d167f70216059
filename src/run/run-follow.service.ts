import { Injectable } from '@nestjs/common';
import { endsStream, isTerminal, type RunEvent } from './run-event.types.js';
import { RunBus } from './run-bus.js';
import { RunItem } from './run-item.factory.js';
import { RunJournal } from './run-journal.js';

/** A follower that reads slower than this many UTF-16 units behind is cut off; it can come back with its last place. */
const MAX_BACKLOG = 1_000_000;

/** A follower that listens. */
export interface Following {
  /**
   * The run's events after the place `after`; ends after the event that ends the stream, when `signal` is aborted, or
   * when the reader has fallen too far behind.
   * @param after the number of the last event that the follower has; 0 for all
   */
  items(after: number, signal: AbortSignal): AsyncGenerator<RunItem, void>;
  close(): void;
}

interface Listening {
  readonly backlog: Backlog;
  readonly unsubscribe: () => void;
}

/** Follows a run from any place: first what the journal holds, then what happens, without a gap or a repetition. */
@Injectable()
export class RunFollowService {
  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
  ) {}

  /** Begins to listen at once, so that what happens before `items` is read is not lost. Close it, or read it to its end. */
  open(runId: string): Following {
    const backlog = new Backlog(runId);
    const unsubscribe = this.bus.subscribe(runId, (item) => backlog.push(item));
    return { close: unsubscribe, items: (after, signal) => this.items(runId, after, signal, { backlog, unsubscribe }) };
  }

  /** All recorded events after a place. */
  async *recorded(runId: string, after: number): AsyncGenerator<RunItem, void> {
    for (let last = after; ;) {
      const page = await this.journal.events(runId, last);
      yield* page;
      const end = page.at(-1);
      if (!end || end.n === null) return;
      last = end.n;
    }
  }

  private async *items(
    runId: string,
    after: number,
    signal: AbortSignal,
    { backlog, unsubscribe }: Listening,
  ): AsyncGenerator<RunItem, void> {
    const stop = () => backlog.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const place = yield* this.recordedSoFar(runId, after, backlog);
      if (place !== null) yield* live(backlog, place);
    } finally {
      signal.removeEventListener('abort', stop);
      unsubscribe();
    }
  }

  /** @returns the place from which the backlog goes on; `null` when nothing more comes */
  private async *recordedSoFar(runId: string, after: number, backlog: Backlog): AsyncGenerator<RunItem, number | null> {
    let place = after === 0 ? 0 : Math.min(after, await this.journal.lastEvent(runId));
    for (let mayGoOn = true; ; mayGoOn = false) {
      for await (const item of this.recorded(runId, place)) {
        place = item.place;
        yield item;
        if (isTerminal(item.event)) return null;
      }
      if (!mayGoOn) return null;
      if (backlog.reachesBeyond(place) || (await this.isGoingOn(runId))) return place;
      // It stopped after the journal was read, or long ago: what is recorded now is all there is.
    }
  }

  private async isGoingOn(runId: string): Promise<boolean> {
    const run = await this.journal.find(runId);
    return run?.status === 'queued' || run?.status === 'running';
  }
}

/** What happens after a place, to the event that ends the stream; what was read from the journal already is left out. */
async function* live(backlog: Backlog, after: number): AsyncGenerator<RunItem, void> {
  let place = after;
  for await (const item of backlog) {
    if (item.n === null ? item.place >= place : item.n > place) {
      yield item;
      place = item.n ?? place;
    }
    if (endsStream(item.event) && item.place >= place) return;
  }
}

/** What happened while the follower was busy; closes when it has fallen too far behind. */
class Backlog implements AsyncIterable<RunItem> {
  private items: RunItem[] = [];
  private size = 0;
  private isClosed = false;
  private wake: (() => void) | null = null;

  constructor(private readonly runId: string) {}

  /** Whether an event after the place has come. */
  reachesBeyond(place: number): boolean {
    return this.items.some(({ n }) => n !== null && n > place);
  }

  push(item: RunItem): void {
    if (this.isClosed) return;
    // Only live events pile up with nobody reading; the journaled ones are few and the same objects for every follower.
    if (item.n === null) this.size += item.data.length;
    if (this.size > MAX_BACKLOG) return this.cutOff(item);
    this.items.push(item);
    this.wake?.();
  }

  /** The reader gets what is there already, then hears why no more comes. */
  private cutOff({ at, place }: RunItem): void {
    const event: RunEvent = { type: 'stream.closed', run_id: this.runId, code: 'SLOW_READER' };
    this.items.push(new RunItem(null, at, event, undefined, place));
    this.close();
  }

  close(): void {
    this.isClosed = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunItem, void> {
    while (!this.isClosed || this.items.length > 0) {
      const items = this.items;
      this.items = [];
      this.size = 0;
      yield* items;
      if (this.items.length === 0 && !this.isClosed) await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = null;
    }
  }
}
