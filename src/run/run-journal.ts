import { type Principal } from '../kernel/index.js';
import { Injectable } from '@nestjs/common';
import { ModelBudget } from '../llm/budget/index.js';
import { Database } from '../persistence/index.js';
import type { SqlValue, Statement } from '../persistence/statement/index.js';
import { Ownership } from '../security/index.js';
import { Cipher } from '../security/encryption/index.js';
import {
  claimRun,
  createRun,
  endRun,
  insertEvents,
  insertRun,
  insertStep,
  type NewRun,
  startedItem,
} from './run-statement.factory.js';
import { definitionPlace, eventPlace, type RunRow, SELECT_RUN, stepPlace, toStoredEnd } from './run-record.mapper.js';
import { FILE_STEP, toFileMark, toRunFile, type FileMark } from './files/run-file.mapper.js';
import type { RunFile } from './files/run-file.types.js';
import { isTerminal, type RunEvent } from './event/run-event.types.js';
import { RunHandlerRegistry } from './run-handler.registry.js';
import { RunItem } from './event/run-item.factory.js';
import { RunLease } from './run-lease.js';
import { RunRows } from './run-rows.js';
import type { RecordedStep, RunHead, RunOpening, RunRecord, StartRun } from './run.types.js';

const EVENT_PAGE = 500;

type StepRow = RecordedStep & { readonly tenant: string };

interface EventRow {
  readonly n: number;
  readonly tenant: string;
  readonly data: string;
  readonly created_at: number;
}

/** The store of runs: the tables `run`, `run_step` and `run_event`. */
@Injectable()
export class RunJournal {
  private readonly rows: RunRows;
  /** Definitions known to be stored, by `tenant` and hash. */
  private readonly stored = new Set<string>();

  constructor(
    readonly database: Database,
    private readonly lease: RunLease,
    readonly cipher: Cipher,
    readonly budget: ModelBudget,
    private readonly handlers: RunHandlerRegistry,
    private readonly ownership: Ownership,
  ) {
    this.rows = new RunRows(database, cipher);
  }

  /**
   * Journals a new run, durably: `running`, owned by this process with its session's slot, or `queued`.
   * @throws AppError `COMMIT_REFUSED` (unique) when another run holds the session
   */
  async create(start: StartRun, status: 'running' | 'queued', now: number): Promise<NewRun> {
    const { batch, ...created } = this.startBatch(start, status, now);
    await this.database.commit(batch);
    this.stored.add(definitionKey(created.run));
    return created;
  }

  /**
   * As `create`, but returns the run before it is journaled. An early start of a run that this process executes at once
   * resolves as soon as a crash of this process cannot undo it (see `CommitOptions`).
   * @param waitsMs longest wait for another batch to share the commit, in ms
   */
  begin(start: StartRun, now: number, waitsMs = 0, status: 'running' | 'queued' = 'running'): NewRun & RunOpening {
    const { batch, ...started } = this.startBatch(start, status, now);
    const isEarly = status === 'running' && (start.isEarly ?? false);
    const written = this.database
      .commit(batch, { waitsMs, isEarly })
      .then(() => void this.stored.add(definitionKey(started.run)));
    return { ...started, written };
  }

  private startBatch(start: StartRun, status: 'running' | 'queued', now: number): NewRun & { batch: Statement[] } {
    const { run, items } = createRun(start, status, this.node, now, (started) => this.missing(started));
    const batch = [
      ...this.definition(run, now),
      insertRun(run, this.cipher, start.question),
      ...insertEvents(run, items, this.cipher),
      ...(start.statements ?? []),
    ];
    return { run, items, batch };
  }

  /** Whether, without a query, this process is sure that no other process has claimed its runs. */
  isSurelyOwner(): boolean {
    return this.lease.isSure();
  }

  /** Whether the run is still running under this record's epoch. */
  async isOwner(run: RunRecord): Promise<boolean> {
    const sql = `SELECT id FROM run WHERE id = ? AND epoch = ? AND status = 'running'`;
    return (await this.database.query(sql, [run.id, run.epoch])).length > 0;
  }

  /** Whether batches are applied in the order of their calls, without waiting for each other. */
  get keepsOrder(): boolean {
    return this.database.keepsOrder;
  }

  /** The id of this process in the `owner` column of its runs. */
  get node(): string {
    return this.lease.node;
  }

  /**
   * Claims a queued or crashed run for this process.
   * @throws AppError `COMMIT_REFUSED`: `unique` when another run holds its session, `rows` when another process owns it
   *   now
   */
  async claim(run: RunRecord, now: number): Promise<{ run: RunRecord; items: RunItem[] }> {
    const claimed: RunRecord = {
      ...run,
      status: 'running',
      epoch: run.epoch + 1,
      owner: this.node,
      attempts: run.attempts + Number(run.status === 'running'),
    };
    const items = run.epoch === 0 ? [startedItem(run, now, this.missing(run))] : [];
    await this.database.commit([claimRun(run, now, this.node), ...insertEvents(run, items, this.cipher)]);
    return { run: { ...claimed, cancelRequestedAt: await this.cancelRequestedAt(run.id) }, items };
  }

  private missing(run: RunRecord): readonly string[] {
    return this.handlers.missing(run);
  }

  /** Read after the claim: a cancel requested since the record was read found no owner to wake. */
  private async cancelRequestedAt(runId: string): Promise<number | null> {
    const sql = 'SELECT cancel_requested_at AS at FROM run WHERE id = ?';
    const [row] = await this.database.query<{ at: number | null }>(sql, [runId]);
    return row?.at ?? null;
  }

  /**
   * Returns a run to the queue whose execution was relinquished without a crash; no effect if another process owns it.
   */
  async putBack(run: Pick<RunRecord, 'id' | 'epoch'>): Promise<void> {
    await this.database.commit([
      {
        sql: `UPDATE run SET status = 'queued', changed_at = ? WHERE id = ? AND epoch = ? AND status = 'running'`,
        params: [Date.now(), run.id, run.epoch],
        changedRun: run.id,
      },
    ]);
  }

  /** One atomic batch; its first statement checks the owner of the run. */
  async commit(batch: readonly Statement[]): Promise<void> {
    await this.database.commit(batch);
  }

  async find(id: string): Promise<RunRecord | null> {
    return (await this.select('WHERE run.id = ?', [id]))[0] ?? null;
  }

  /** The run with this id if the principal may see it. */
  async findOf(principal: Principal, id: string): Promise<RunRecord | null> {
    const { sql, params } = this.ownership.filter(principal, 'principal_id', 'run');
    return (await this.select(`WHERE run.id = ? AND ${sql}`, [id, ...params]))[0] ?? null;
  }

  /** The run that holds the session, else the first run queued for it; `null` when no run is open. */
  async openOf({ tenant, sessionId }: Pick<RunRecord, 'tenant' | 'sessionId'>): Promise<RunRecord | null> {
    if (sessionId === null) return null;
    const [row] = await this.select(
      `WHERE run.tenant = ? AND run.session_id = ? AND run.status IN ('queued', 'running', 'waiting')
        ORDER BY CASE WHEN run.session_slot IS NULL THEN 1 ELSE 0 END, run.created_at, run.id LIMIT 1`,
      [tenant, sessionId],
    );
    return row ?? null;
  }

  /** Runs to execute, the oldest first, without those that cannot be read. */
  unfinished(): Promise<RunHead[]> {
    return this.rows.unfinished();
  }

  /** Bytes that an execution of the run reads. */
  sizeOf(run: Pick<RunRecord, 'id' | 'epoch'>): Promise<number> {
    return this.rows.sizeOf(run);
  }

  /** The steps of a run, without its files. */
  async steps(runId: string): Promise<RecordedStep[]> {
    const rows = await this.database.query<StepRow>(
      'SELECT name, tenant, kind, subject, result FROM run_step WHERE run_id = ? AND kind <> ?',
      [runId, FILE_STEP],
    );
    return rows.map(({ name, tenant, kind, subject, result }) => ({
      name,
      kind,
      subject,
      result: this.cipher.open(result, stepPlace(tenant, runId, name)),
    }));
  }

  /** The metadata of the files of a run. */
  async files(runId: string): Promise<FileMark[]> {
    const sql = 'SELECT subject FROM run_step WHERE run_id = ? AND kind = ?';
    const rows = await this.database.query<{ readonly subject: string }>(sql, [runId, FILE_STEP]);
    return rows.map(({ subject }) => toFileMark(subject));
  }

  /** A file of a run, by its number. */
  async file(runId: string, n: number): Promise<RunFile | undefined> {
    const [row] = await this.database.query<StepRow>(
      'SELECT name, tenant, subject, result FROM run_step WHERE run_id = ? AND kind = ? AND subject LIKE ?',
      [runId, FILE_STEP, `${n} %`],
    );
    return row && toRunFile(row.subject, this.cipher.open(row.result, stepPlace(row.tenant, runId, row.name)));
  }

  async lastEvent(runId: string): Promise<number> {
    const sql = 'SELECT MAX(n) AS n FROM run_event WHERE run_id = ?';
    const [row] = await this.database.query<{ n: number | null }>(sql, [runId]);
    return row?.n ?? 0;
  }

  /** Up to 500 events after the number `after`, in order. */
  async events(runId: string, after: number, limit = EVENT_PAGE): Promise<RunItem[]> {
    const rows = await this.database.query<EventRow>(
      `SELECT n, tenant, data, created_at FROM run_event WHERE run_id = ? AND n > ? ORDER BY n LIMIT ?`,
      [runId, after, limit],
    );
    return rows.map(({ n, tenant, data, created_at }) => {
      const place = eventPlace(tenant, runId, n);
      const json = this.cipher.open(data, place);
      return new RunItem(n, created_at, Cipher.parse(json, place) as RunEvent, json);
    });
  }

  /** Requests a cancel from the owner. @throws AppError `COMMIT_REFUSED` when the run waits or has ended meanwhile */
  async requestCancel(run: RunRecord, now: number): Promise<void> {
    await this.database.commit([
      {
        sql: `UPDATE run SET cancel_requested_at = COALESCE(cancel_requested_at, ?)
          WHERE id = ? AND status IN ('queued', 'running')`,
        params: [now, run.id],
        rows: 1,
      },
    ]);
  }

  /** Ends a run that was never started. @throws AppError `COMMIT_REFUSED` when a process has started it meanwhile */
  async endQueued(run: RunRecord, status: 'cancelled' | 'failed', item: RunItem): Promise<void> {
    const end = isTerminal(item.event) ? toStoredEnd(run, item.event, this.cipher) : undefined;
    await this.database.commit([
      endRun(run, 'queued', status, item.at, end),
      ...insertEvents(run, [item], this.cipher),
    ]);
  }

  /**
   * Answers a waiting run with a cancel and queues it, to close its turn. @throws AppError `COMMIT_REFUSED` when it no
   * longer waits
   */
  async cancelWaiting(run: RunRecord, now: number): Promise<void> {
    const answer = { name: `answer:${run.epoch}`, kind: 'answer', subject: 'cancel', result: '{"answer":"cancel"}' };
    await this.database.commit([
      {
        sql: `UPDATE run SET status = 'queued', expires_at = NULL, cancel_requested_at = ?, changed_at = ?
          WHERE id = ? AND epoch = ? AND status = 'waiting'`,
        params: [now, Date.now(), run.id, run.epoch],
        rows: 1,
        changedRun: run.id,
      },
      insertStep(run, answer, now, this.cipher),
    ]);
  }

  private async select(where: string, params: readonly SqlValue[]): Promise<RunRecord[]> {
    const rows = await this.database.query<RunRow>(`${SELECT_RUN} ${where}`, params);
    const runs: RunRecord[] = [];
    for (const row of rows) runs.push(await this.rows.toRecord(row));
    return runs;
  }

  private definition(run: RunRecord, now: number): Statement[] {
    // The definition of a fork is deleted with its owner's data, so it is stored again.
    if (run.forkedFrom === null && this.stored.has(definitionKey(run))) return [];
    const { tenant, definitionHash: hash } = run;
    const content = this.cipher.seal(run.definition, definitionPlace(tenant, hash));
    const row = { tenant, hash, content, created_at: now };
    return [this.database.insertIgnore('run_definition', row)];
  }
}

function definitionKey(run: RunRecord): string {
  return `${run.tenant}\n${run.definitionHash}`;
}
