import { Injectable } from '@nestjs/common';
import { Database, type SqlValue } from '../../persistence/index.js';

/** Runs of one status that are counted at most. */
const MAX_COUNTED = 10_000;

/** The unfinished runs that no process executes. */
export interface OpenRuns {
  /** At most 10,000, as `waiting`. */
  readonly queued: number;
  readonly waiting: number;
  /** Start of the longest wait, epoch ms; `null` without a waiting run. */
  readonly waitingSince: number | null;
}

/** Counts of runs in the journal, the same for all processes that share it. */
@Injectable()
export class RunLoadStore {
  constructor(private readonly database: Database) {}

  running(column: 'tenant' | 'agent', value: string): Promise<number> {
    return this.count(`status = 'running' AND ${column} = ?`, [value]);
  }

  queued(): Promise<number> {
    return this.count(`status = 'queued'`, []);
  }

  /** Runs of all tenants that are queued, or wait for a person. */
  async open(): Promise<OpenRuns> {
    const [queued, waiting] = await Promise.all(['queued', 'waiting'].map((status) => this.bounded(status)));
    return { queued: queued!.count, waiting: waiting!.count, waitingSince: waiting!.since };
  }

  private async bounded(status: string): Promise<{ count: number; since: number | null }> {
    const [row] = await this.database.query<{ n: number | string; since: number | null }>(
      `SELECT COUNT(*) AS n, MIN(since) AS since FROM (SELECT COALESCE(changed_at, created_at) AS since
        FROM run WHERE status = ? ORDER BY created_at LIMIT ?) counted`,
      [status, MAX_COUNTED],
    );
    return { count: Number(row?.n ?? 0), since: row?.since ?? null };
  }

  queuedOf(tenant: string): Promise<number> {
    return this.count(`status = 'queued' AND tenant = ?`, [tenant]);
  }

  /** Number of runs the tenant started after a time (epoch ms), without child runs, and the time of the first. */
  async startedSince(tenant: string, since: number): Promise<{ count: number; first: number | null }> {
    const [row] = await this.database.query<{ n: number; first: number | null }>(
      'SELECT COUNT(*) AS n, MIN(created_at) AS first FROM run WHERE tenant = ? AND created_at > ? AND depth = 0',
      [tenant, since],
    );
    return { count: row?.n ?? 0, first: row?.first ?? null };
  }

  private async count(where: string, params: readonly SqlValue[]): Promise<number> {
    const [row] = await this.database.query<{ n: number }>(`SELECT COUNT(*) AS n FROM run WHERE ${where}`, params);
    return row?.n ?? 0;
  }
}
