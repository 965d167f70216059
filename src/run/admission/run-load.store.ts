import { Injectable } from '@nestjs/common';
import { Database, type SqlValue } from '../../persistence/index.js';

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
