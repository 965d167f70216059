import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';
import { Database, inLists } from '../../persistence/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { LISTED_COLUMNS, toListedRun, type ListedRun, type ListRow } from './listed-run.mapper.js';
import { RunBus } from '../follow/run-bus.js';

/** A run whose status has changed, as it is now. */
export interface RunChange {
  /** Where a later reader continues. */
  readonly position: string;
  /** `null` in the first entry, of the position at which the feed starts. */
  readonly run: ListedRun | null;
}

/** The position of a reader. */
export interface FeedPosition {
  /** The position of the last received change; by default only later changes. */
  readonly after?: string | undefined;
  /** `false`: the feed ends after the present changes. */
  readonly isLive?: boolean;
}

type ChangedRow = ListRow & { readonly changed_at: number };

/** Changes of one run within this time are reported once, in ms. */
const COLLECT_MS = 250;
/**
 * Time before a position that is read again, in ms: a commit may become visible later than its time, clocks of nodes differ,
 * and a lost message of another node is noticed within 15 s.
 */
const OVERLAP_MS = 30_000;
/** Changes in memory for a slow reader; beyond it, the reader gets them from the database. */
const MAX_PENDING = 5_000;
const PAGE = 200;

const POSITION = /^\d{1,15}$/;

/** The changes that a reader has not received. */
class PendingChanges {
  private ids = new Set<string>();
  private isOverflown = false;
  private wake: (() => void) | null = null;

  /** @param runIds `null` if changes may have been missed */
  add(runIds: readonly string[] | null): void {
    if (runIds === null || this.ids.size + runIds.length > MAX_PENDING) {
      this.isOverflown = true;
      this.ids.clear();
    } else if (!this.isOverflown) for (const id of runIds) this.ids.add(id);
    this.wake?.();
  }

  /** Resolves when there are changes, or when the signal is aborted. */
  arrival(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.isOverflown || this.ids.size > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.wake = null;
        resolve();
      };
      signal.addEventListener('abort', done);
      this.wake = done;
    });
  }

  /** @returns `null` if changes were missed */
  take(): readonly string[] | null {
    const taken = this.isOverflown ? null : [...this.ids];
    this.ids = new Set();
    this.isOverflown = false;
    return taken;
  }
}

/** The changes of the last `OVERLAP_MS` that a reader has received, so that it receives each once while it is connected. */
class SentChanges {
  private readonly sent = new Map<string, Pick<ChangedRow, 'status' | 'changed_at'>>();
  private prunedAt = 0;

  /** @param last time of the last change, epoch ms */
  constructor(public last: number) {}

  /** The changes that the reader has not received. */
  async *without(rows: AsyncIterable<ChangedRow>): AsyncGenerator<ChangedRow, void> {
    for await (const row of rows) if (this.add(row)) yield row;
  }

  private add({ id, status, changed_at }: ChangedRow): boolean {
    this.last = Math.max(this.last, changed_at);
    const before = this.sent.get(id);
    if (before?.changed_at === changed_at && before.status === status) return false;
    this.sent.set(id, { status, changed_at });
    if (this.last - this.prunedAt > OVERLAP_MS) this.prune();
    return true;
  }

  private prune(): void {
    this.prunedAt = this.last;
    for (const [id, { changed_at }] of this.sent) if (changed_at < this.last - OVERLAP_MS) this.sent.delete(id);
  }
}

/**
 * The feed of status changes of all runs that a principal may see: each at least once, as the run is when it is read. Changes
 * of one run in quick succession are one. Without readers it costs nothing.
 */
@Injectable()
export class RunChangeService implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly bus: RunBus,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {}

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  /**
   * The changes after a position come first, and some before it again.
   * @param signal ends the feed
   * @throws AppError `VALIDATION_FAILED` for an unknown position
   */
  follow(
    principal: Principal,
    { after, isLive = true }: FeedPosition,
    signal: AbortSignal,
  ): AsyncGenerator<RunChange, void> {
    const isResumed = after !== undefined && after !== '';
    if (isResumed && !POSITION.test(after)) throw unknownPosition(after);
    const ends = AbortSignal.any([signal, this.stopping.signal]);
    return this.changes(principal, isResumed ? Number(after) : null, isLive ? ends : null);
  }

  private async *changes(
    principal: Principal,
    since: number | null,
    /** `null`: the feed ends after the present changes. */
    ends: AbortSignal | null,
  ): AsyncGenerator<RunChange, void> {
    const pending = new PendingChanges();
    if (since !== null) pending.add(null);
    const sent = new SentChanges(since ?? Date.now());
    const stops = [
      this.database.onStatusChange((ids) => pending.add(ids)),
      this.bus.onRemoteChange((ids) => pending.add(ids)),
    ];
    try {
      yield { position: String(sent.last), run: null };
      do {
        if (ends) await pending.arrival(ends);
        if (ends?.aborted) return;
        for await (const row of sent.without(this.taken(principal, pending, sent.last))) {
          yield { position: String(sent.last), run: toListedRun(row, principal.tenant, this.cipher) };
        }
      } while (await mayContinue(ends));
    } finally {
      for (const stop of stops) stop();
    }
  }

  private taken(principal: Principal, pending: PendingChanges, last: number): AsyncGenerator<ChangedRow, void> {
    const ids = pending.take();
    return ids === null ? this.changedSince(principal, last - OVERLAP_MS) : this.rowsOf(principal, ids);
  }

  private async *rowsOf(principal: Principal, ids: readonly string[]): AsyncGenerator<ChangedRow, void> {
    const visible = this.ownership.filter(principal, 'principal_id');
    for (const { marks, params } of inLists(ids)) {
      const sql = `SELECT ${LISTED_COLUMNS}, changed_at FROM run WHERE id IN (${marks}) AND changed_at IS NOT NULL AND ${visible.sql}`;
      const rows = await this.database.query<ChangedRow>(sql, [...params, ...visible.params]);
      yield* rows.toSorted((a, b) => a.changed_at - b.changed_at);
    }
  }

  /** Along the index of changes, the oldest first. */
  private async *changedSince(principal: Principal, since: number): AsyncGenerator<ChangedRow, void> {
    const visible = this.ownership.filter(principal, "COALESCE(principal_id, '')");
    let [at, id] = [since, ''];
    for (;;) {
      const rows = await this.database.query<ChangedRow>(
        `SELECT ${LISTED_COLUMNS}, changed_at FROM run
          WHERE ${visible.sql} AND changed_at >= ? AND (changed_at > ? OR id > ?) ORDER BY changed_at, id LIMIT ?`,
        [...visible.params, at, at, id, PAGE],
      );
      yield* rows;
      const end = rows.at(-1);
      if (!end || rows.length < PAGE) return;
      [at, id] = [end.changed_at, end.id];
    }
  }
}

/** Waits for further changes of the runs that have just changed. @returns whether the feed continues */
async function mayContinue(ends: AbortSignal | null): Promise<boolean> {
  if (!ends) return false;
  await delay(COLLECT_MS, undefined, { signal: ends }).catch(() => undefined);
  return true;
}

function unknownPosition(given: string): AppError {
  const message = `Last-Event-ID must be the id of an event of this feed, like 1893456000000; got "${given.slice(0, 40)}".`;
  const errors = [fieldMistake('Last-Event-ID', message, 'isEventId', given)];
  return new AppError('VALIDATION_FAILED', message, { details: { errors } });
}
