import { Injectable } from '@nestjs/common';
import { Database, type SqlValue, type Statement } from '../persistence/index.js';
import type { RunEvent } from './run-event.types.js';
import { RunItem } from './run-item.factory.js';
import { toRunRecord, type RunRow } from './run-record.mapper.js';
import { claimRun, endRun, insertEvent, insertRun, insertStep } from './run-statement.factory.js';
import type { RecordedStep, RunRecord, RunStatus, StartRun } from './run.types.js';

const SELECT_RUN = `SELECT run.*, run_definition.content AS definition FROM run
  JOIN run_definition ON run_definition.tenant = run.tenant AND run_definition.hash = run.definition_hash`;
const EVENT_PAGE = 500;

interface EventRow {
  readonly n: number;
  readonly data: string;
  readonly created_at: number;
}

/** The three tables that hold the truth about runs. */
@Injectable()
export class RunJournal {
  /** Definitions known to be stored, by `tenant` and hash. */
  private readonly stored = new Set<string>();

  constructor(private readonly database: Database) {}

  /**
   * Journals a new run: `running`, owned by this process and holding its session, or `queued`.
   * @throws AppError `COMMIT_REFUSED` (unique) when another run holds the session
   */
  async create(
    start: StartRun,
    status: 'running' | 'queued',
    now: number,
  ): Promise<{ run: RunRecord; items: RunItem[] }> {
    const { statements = [], ...rest } = start;
    const run: RunRecord = {
      ...rest,
      tenant: start.principal.tenant,
      status,
      epoch: status === 'running' ? 1 : 0,
      attempts: 0,
      cancelRequestedAt: null,
      createdAt: now,
      finishedAt: null,
    };
    const items = status === 'running' ? [startedItem(run, now)] : [];
    await this.database.commit([
      ...this.definition(run, now),
      insertRun(run),
      ...items.map((item) => insertEvent(run, item)),
      ...statements,
    ]);
    this.stored.add(definitionKey(run));
    return { run, items };
  }

  /**
   * Takes a queued or crashed run over for this process.
   * @throws AppError `COMMIT_REFUSED`: `unique` when another run holds its session, `rows` when it is somebody else's now
   */
  async claim(run: RunRecord, now: number): Promise<{ run: RunRecord; items: RunItem[] }> {
    const crashed = run.status === 'running';
    const claimed: RunRecord = {
      ...run,
      status: 'running',
      epoch: run.epoch + 1,
      attempts: run.attempts + (crashed ? 1 : 0),
    };
    const items = run.epoch === 0 ? [startedItem(run, now)] : [];
    await this.database.commit([claimRun(run, crashed), ...items.map((item) => insertEvent(run, item))]);
    return { run: { ...claimed, cancelRequestedAt: await this.cancelRequestedAt(run.id) }, items };
  }

  /** Read once the run is claimed: a cancel may have come since its record was read, and found no owner to wake. */
  private async cancelRequestedAt(runId: string): Promise<number | null> {
    const sql = 'SELECT cancel_requested_at AS at FROM run WHERE id = ?';
    const [row] = await this.database.query<{ at: number | null }>(sql, [runId]);
    return row?.at ?? null;
  }

  /** Puts a run back whose execution was given up without a crash; nothing changes when it is somebody else's now. */
  async putBack(run: RunRecord): Promise<void> {
    await this.database.commit([
      {
        sql: `UPDATE run SET status = 'queued' WHERE id = ? AND epoch = ? AND status = 'running'`,
        params: [run.id, run.epoch],
      },
    ]);
  }

  /** One atomic batch; its first statement says whose run it is. */
  async commit(batch: readonly Statement[]): Promise<void> {
    await this.database.commit(batch);
  }

  async find(id: string): Promise<RunRecord | null> {
    const [row] = await this.select('WHERE run.id = ?', [id]);
    return row ?? null;
  }

  async findOf(tenant: string, id: string): Promise<RunRecord | null> {
    const [row] = await this.select('WHERE run.id = ? AND run.tenant = ?', [id, tenant]);
    return row ?? null;
  }

  /** The run that holds the session, if one does. */
  async holder(slot: string): Promise<RunRecord | null> {
    const [row] = await this.select('WHERE run.session_slot = ?', [slot]);
    return row ?? null;
  }

  /** Runs that should be executing, the oldest first. */
  unfinished(): Promise<RunRecord[]> {
    return this.select(`WHERE run.status IN ('queued', 'running') ORDER BY run.created_at, run.id`, []);
  }

  steps(runId: string): Promise<RecordedStep[]> {
    return this.database.query('SELECT name, kind, subject, result FROM run_step WHERE run_id = ?', [runId]);
  }

  async lastEvent(runId: string): Promise<number> {
    const [row] = await this.database.query<{ n: number | null }>(
      'SELECT MAX(n) AS n FROM run_event WHERE run_id = ?',
      [runId],
    );
    return row?.n ?? 0;
  }

  /** Up to 500 events after the place `after`, in order. */
  async events(runId: string, after: number): Promise<RunItem[]> {
    const rows = await this.database.query<EventRow>(
      `SELECT n, data, created_at FROM run_event WHERE run_id = ? AND n > ? ORDER BY n LIMIT ${EVENT_PAGE}`,
      [runId, after],
    );
    return rows.map(({ n, data, created_at }) => new RunItem(n, created_at, JSON.parse(data) as RunEvent, data));
  }

  /** Asks the owner to cancel; the owner does it. @throws AppError `COMMIT_REFUSED` when it waits or has ended meanwhile */
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

  /** Ends a run that nobody ever started. @throws AppError `COMMIT_REFUSED` when somebody has, meanwhile */
  async cancelQueued(run: RunRecord, item: RunItem): Promise<void> {
    await this.database.commit([endRun(run, 'queued', 'cancelled', item.at), insertEvent(run, item)]);
  }

  /** Answers a waiting run with a cancel: it is queued again, to close its turn. @throws AppError `COMMIT_REFUSED` when it waits no more */
  async cancelWaiting(run: RunRecord, now: number): Promise<void> {
    const answer = { name: `answer:${run.epoch}`, kind: 'answer', subject: 'cancel', result: '{"answer":"cancel"}' };
    await this.database.commit([
      {
        sql: `UPDATE run SET status = 'queued', cancel_requested_at = ? WHERE id = ? AND epoch = ? AND status = 'waiting'`,
        params: [now, run.id, run.epoch],
        rows: 1,
      },
      insertStep(run, answer, now),
    ]);
  }

  private async select(where: string, params: readonly SqlValue[]): Promise<RunRecord[]> {
    const rows = await this.database.query<RunRow>(`${SELECT_RUN} ${where}`, params);
    return rows.map(toRunRecord);
  }

  private definition(run: RunRecord, now: number): Statement[] {
    if (this.stored.has(definitionKey(run))) return [];
    const row = { tenant: run.tenant, hash: run.definitionHash, content: run.definition, created_at: now };
    return [this.database.insertIgnore('run_definition', row)];
  }
}

function definitionKey(run: RunRecord): string {
  return `${run.tenant}\n${run.definitionHash}`;
}

function startedItem(run: RunRecord, now: number): RunItem {
  return new RunItem(1, now, { type: 'run.started', run_id: run.id, session_id: run.sessionId, agent: run.agent });
}

/** Whether a run in this status may still change. */
export function isOpen(status: RunStatus): boolean {
  return status === 'queued' || status === 'running' || status === 'waiting';
}
