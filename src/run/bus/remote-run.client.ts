import { Logger } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { RunItem } from '../run-item.factory.js';
import { RunJournal } from '../run-journal.js';

/** What may have been journaled between a follower's reading and its following elsewhere, in events. */
const OVERLAP = 100;
const RUNS_A_QUERY = 200;

/** A run that is executed in another process and followed here. */
interface RemoteRun {
  readonly deliver: (item: RunItem) => void;
  /** The last journaled event that was delivered. */
  last: number;
  /** What came while the journal is being read. */
  waiting: RunItem[] | null;
}

/** Brings the events of runs that other processes execute: in order and without a gap, however they come. */
export class RemoteRunClient {
  private readonly logger = new Logger(RemoteRunClient.name);
  private readonly runs = new Map<string, RemoteRun>();

  constructor(
    private readonly journal: RunJournal,
    private readonly database: Database,
  ) {}

  followed(): string[] {
    return [...this.runs.keys()];
  }

  /** Delivers what happens from now on, and a little of what happened before. */
  follow(runId: string, deliver: (item: RunItem) => void): void {
    if (this.runs.has(runId)) return;
    const run: RemoteRun = { deliver, last: 0, waiting: null };
    this.runs.set(runId, run);
    this.read(runId, run, async () => Math.max(0, (await this.journal.lastEvent(runId)) - OVERLAP));
  }

  /** Delivers nothing more. */
  forget(runId: string): void {
    this.runs.delete(runId);
  }

  /** An event from elsewhere. @param item `null` when it was only announced */
  receive(runId: string, place: number, item: RunItem | null): void {
    const run = this.runs.get(runId);
    if (!run) return;
    if (run.waiting) {
      if (item) run.waiting.push(item);
    } else if (!item || place > run.last + (item.n === null ? 0 : 1)) {
      run.waiting = item ? [item] : [];
      this.read(runId, run, async () => run.last);
    } else handOn(run, item);
  }

  /** Asks the journal for what was never heard of. */
  async catchUp(): Promise<void> {
    const ids = this.followed();
    for (let at = 0; at < ids.length; at += RUNS_A_QUERY) {
      const some = ids.slice(at, at + RUNS_A_QUERY);
      const rows = await this.database.query<{ run_id: string; n: number }>(
        `SELECT run_id, MAX(n) AS n FROM run_event WHERE run_id IN (${some.map(() => '?').join(', ')}) GROUP BY run_id`,
        some,
      );
      for (const { run_id, n } of rows) if (n > (this.runs.get(run_id)?.last ?? n)) this.receive(run_id, n, null);
    }
  }

  private read(runId: string, run: RemoteRun, from: () => Promise<number>): void {
    run.waiting ??= [];
    this.readOn(runId, run, from).catch((err: unknown) => {
      run.waiting = null;
      this.logger.warn(
        { err, run_id: runId },
        'The journal of a run elsewhere could not be read; it is read again soon',
      );
    });
  }

  private async readOn(runId: string, run: RemoteRun, from: () => Promise<number>): Promise<void> {
    run.last = await from();
    for (let page = await this.journal.events(runId, run.last); page.length > 0;) {
      if (this.runs.get(runId) !== run) return;
      for (const item of page) handOn(run, item);
      page = await this.journal.events(runId, run.last);
    }
    const waiting = run.waiting ?? [];
    run.waiting = null;
    if (this.runs.get(runId) === run) for (const item of waiting) this.receive(runId, item.place.n, item);
  }
}

function handOn(run: RemoteRun, item: RunItem): void {
  if (item.n !== null) {
    if (item.n <= run.last) return;
    run.last = item.n;
  }
  run.deliver(item);
}
