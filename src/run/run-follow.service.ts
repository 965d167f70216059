import { Injectable } from '@nestjs/common';
import { endsStream } from './run-event.types.js';
import { RunBus } from './run-bus.js';
import type { RunItem } from './run-item.factory.js';
import { isOpen, RunJournal } from './run-journal.js';

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
    const backlog = new Backlog();
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
    try {
      let last = after;
      for await (const item of this.recorded(runId, after)) {
        last = item.n ?? last;
        yield item;
      }
      if (backlog.dropThrough(last) || !(await this.mayContinue(runId, backlog))) return;
      yield* live(backlog, last);
    } finally {
      signal.removeEventListener('abort', stop);
      unsubscribe();
    }
  }

  private async mayContinue(runId: string, backlog: Backlog): Promise<boolean> {
    if (!backlog.isEmpty) return true;
    const run = await this.journal.find(runId);
    return !backlog.isEmpty || (run !== null && isOpen(run.status) && run.status !== 'waiting');
  }
}

/** What happens after the place `last`, to the event that ends the stream. */
async function* live(backlog: Backlog, last: number): AsyncGenerator<RunItem, void> {
  for await (const item of backlog) {
    if (item.n === null || item.n > last) yield item;
    if (endsStream(item.event) && (item.n ?? last) >= last) return;
  }
}

/** What happened while the follower was busy; closes when it has fallen too far behind. */
class Backlog implements AsyncIterable<RunItem> {
  private items: RunItem[] = [];
  private size = 0;
  private isClosed = false;
  private wake: (() => void) | null = null;

  get isEmpty(): boolean {
    return this.items.length === 0;
  }

  /** Drops what came before the place and the event there. @returns whether that event ends the stream */
  dropThrough(last: number): boolean {
    const at = this.items.findLastIndex((item) => item.n !== null && item.n <= last);
    const dropped = this.items.splice(0, at + 1).at(-1);
    return dropped?.n === last && endsStream(dropped.event);
  }

  push(item: RunItem): void {
    this.size += item.data.length;
    if (this.size > MAX_BACKLOG) return this.close();
    this.items.push(item);
    this.wake?.();
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
