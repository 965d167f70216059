import { Injectable } from '@nestjs/common';
import { Database, inLists } from '../../persistence/index.js';
import type { RunStatus } from '../run.types.js';

/** The fields of a run for retention; for a child run those of its root's end. Times are epoch ms. */
export interface AgingRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly prunedAt: number | null;
}

interface AgingRow {
  readonly id: string;
  readonly status: RunStatus;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly pruned_at: number | null;
}

export const KEY_TABLES = ['idempotency_key', 'creation_key'] as const;
const OLD_ROWS = 'created_at < ?';

const SELECT_AGING = `SELECT run.id, COALESCE(root.status, run.status) AS status, run.created_at, run.pruned_at,
    CASE WHEN run.finished_at IS NULL OR root.id IS NULL THEN run.finished_at ELSE root.finished_at END AS finished_at
  FROM run LEFT JOIN run root ON root.id = run.root_run_id`;

/** Reads runs by age and deletes old data, in small batches. */
@Injectable()
export class RunRetentionStore {
  constructor(private readonly database: Database) {}

  /** As `Database.onceOpen`. */
  onceOpen(work: () => void): Promise<void> {
    return this.database.onceOpen(work);
  }

  /** Up to `limit` runs of all tenants after the id `after`; ids start with the time, so the oldest come first. */
  async runsAfter(after: string, limit: number): Promise<AgingRun[]> {
    const rows = await this.database.query<AgingRow>(`${SELECT_AGING} WHERE run.id > ? ORDER BY run.id LIMIT ?`, [
      after,
      limit,
    ]);
    return rows.map(toAging);
  }

  /** Runs by their ids. */
  async runs(ids: readonly string[]): Promise<AgingRun[]> {
    const found = inLists(ids).map(({ marks, params }) =>
      this.database.query<AgingRow>(`${SELECT_AGING} WHERE run.id IN (${marks})`, params),
    );
    return (await Promise.all(found)).flat().map(toAging);
  }

  /** The runs below a root run. */
  async below(rootRunId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>('SELECT id FROM run WHERE root_run_id = ?', [rootRunId]);
    return rows.map(({ id }) => id);
  }

  /** Deletes the journals of ended runs, in one batch; their rows remain, with the summary of the end. */
  async prune(runIds: readonly string[], now: number): Promise<void> {
    const statements = inLists(runIds).flatMap(({ marks, params }) => [
      {
        sql: `UPDATE run SET pruned_at = ?, input = '', preview = NULL WHERE pruned_at IS NULL AND id IN (${marks})`,
        params: [now, ...params],
      },
      { sql: `DELETE FROM run_step WHERE run_id IN (${marks})`, params },
      { sql: `DELETE FROM run_event WHERE run_id IN (${marks})`, params },
      { sql: `DELETE FROM webhook_delivery WHERE run_id IN (${marks})`, params },
      // Scores remain, as the summary of the run does.
      { sql: `UPDATE run_feedback SET comment = NULL, correction = NULL WHERE run_id IN (${marks})`, params },
    ]);
    await this.database.commit(statements);
  }

  /** Deletes up to `limit` reports of evals created before a time. @returns whether there are more */
  async dropEvals(before: number, limit: number): Promise<boolean> {
    await this.database.commit([this.database.limitedDelete('eval_report', ['id'], OLD_ROWS, [before], limit)]);
    return (await this.database.query(`SELECT id FROM eval_report WHERE ${OLD_ROWS} LIMIT 1`, [before])).length > 0;
  }

  /** Deletes up to `limit` idempotency keys of a table created before a time. @returns whether there are more */
  async dropKeys(table: (typeof KEY_TABLES)[number], before: number, limit: number): Promise<boolean> {
    await this.database.commit([this.database.limitedDelete(table, ['tenant', 'idem_key'], OLD_ROWS, [before], limit)]);
    const sql = `SELECT created_at FROM ${table} WHERE ${OLD_ROWS} ORDER BY created_at LIMIT 1`;
    return (await this.database.query(sql, [before])).length > 0;
  }
}

function toAging({ id, status, created_at, finished_at, pruned_at }: AgingRow): AgingRun {
  return { id, status, createdAt: created_at, finishedAt: finished_at, prunedAt: pruned_at };
}
