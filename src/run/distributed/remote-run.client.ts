import { Log } from '../../errors/index.js';
import { Database } from '../../persistence/index.js';
import type { RunItem } from '../event/run-item.factory.js';
import { RunJournal } from '../run-journal.js';

/** Events that may be journaled between a follower's read and its remote subscription. */
const OVERLAP = 100;
const RUNS_A_QUERY = 200;

/** A run that executes in another process and is followed here. */
interface RemoteRun {
  readonly deliver: (item: RunItem) => void;
  /** The last journaled event that was delivered. */
  last: number;
  /** Items that arrive while the journal is read. */
  waiting: RunItem[] | null;
}

/** Delivers the events of runs of other processes: in order and without gaps, however they arrive. */
export class RemoteRunClient {
  private readonly logger = new Log(RemoteRunClient.name);
  private readonly runs = new Map<string, RemoteRun>();

  constructor(
    private readonly journal: RunJournal,
    private readonly database: Database,
  ) {}

  followed(): string[] {
    return [...this.runs.keys()];
  }

  /** Starts delivery, from shortly before the last journaled event. */
  follow(runId: string, deliver: (item: RunItem) => void): void {
    if (this.runs.has(runId)) return;
    const run: RemoteRun = { deliver, last: 0, waiting: null };
    this.runs.set(runId, run);
    this.read(runId, run, async () => Math.max(0, (await this.journal.lastEvent(runId)) - OVERLAP));
  }

  /** Ends delivery. */
  forget(runId: string): void {
    this.runs.delete(runId);
  }

  /** Handles an item of another process. @param item `null` when it was only announced */
  receive(runId: string, place: number, item: RunItem | null): void {
    const run = this.runs.get(runId);
    if (!run) return;
    if (run.waiting) {
      if (item) run.waiting.push(item);
    } else if (!item || place > run.last + (item.n === null ? 0 : 1)) {
      run.waiting = item ? [item] : [];
      this.read(runId, run, async () => run.last);
    } else deliverNew(run, item);
  }

  /** Reads events from the journal that never arrived. */
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
    this.readFrom(runId, run, from).catch((err: unknown) => {
      run.waiting = null;
      this.logger.warn({ err, run_id: runId }, 'Failed to read the journal of a remote run; retrying');
    });
  }

  private async readFrom(runId: string, run: RemoteRun, from: () => Promise<number>): Promise<void> {
    run.last = await from();
    for (let page = await this.journal.events(runId, run.last); page.length > 0;) {
      if (this.runs.get(runId) !== run) return;
      for (const item of page) deliverNew(run, item);
      page = await this.journal.events(runId, run.last);
    }
    const waiting = run.waiting ?? [];
    run.waiting = null;
    if (this.runs.get(runId) === run) for (const item of waiting) this.receive(runId, item.place.n, item);
  }
}

function deliverNew(run: RemoteRun, item: RunItem): void {
  if (item.n !== null) {
    if (item.n <= run.last) return;
    run.last = item.n;
  }
  run.deliver(item);
}
