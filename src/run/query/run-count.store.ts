import { Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { Database, withLongCalls } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import { Ownership } from '../../security/index.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';

/** The runs to count; absent fields match every run. */
export interface RunCountFilter {
  readonly agent?: string;
  readonly kind?: string;
  /** Created at this time or later, epoch ms. Open runs are counted at any age. */
  readonly from: number;
  /** Created before this time, epoch ms. */
  readonly to?: number;
}

/** Numbers of runs. */
export interface RunCounts {
  readonly byStatus: Readonly<Record<RunStatus, number>>;
  /** Failed runs by error code, the most frequent first; `null`: failed under a version that did not store it. */
  readonly failed: readonly { readonly code: string | null; readonly count: number }[];
  /** Whether all runs of the filter were counted: of each status 50,000 are counted at most. */
  readonly isComplete: boolean;
}

interface CountRow {
  readonly error_code?: string | null;
  readonly n: number | string;
}

type Condition = readonly [sql: string, ...params: SqlValue[]];

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'];
/** Runs of one status that are counted at most. */
const MAX_COUNTED = 50_000;

/** Counts the runs that a principal may see, along the index of statuses. */
@Injectable()
export class RunCountStore {
  constructor(
    private readonly database: Database,
    private readonly ownership: Ownership,
  ) {}

  async count(principal: Principal, filter: RunCountFilter): Promise<RunCounts> {
    const counted = await withLongCalls(() =>
      Promise.all(STATUSES.map((status) => this.ofStatus(status, this.conditionsOf(principal, status, filter)))),
    );
    const sums = counted.map((rows) => rows.reduce((sum, { n }) => sum + Number(n), 0));
    const failed = counted[STATUSES.indexOf('failed')]!;
    return {
      byStatus: Object.fromEntries(STATUSES.map((status, at) => [status, sums[at]!])) as Record<RunStatus, number>,
      failed: failed
        .map(({ error_code = null, n }) => ({ code: error_code, count: Number(n) }))
        .toSorted((a, b) => b.count - a.count || (a.code ?? '').localeCompare(b.code ?? '')),
      isComplete: sums.every((sum) => sum < MAX_COUNTED),
    };
  }

  private conditionsOf(principal: Principal, status: RunStatus, filter: RunCountFilter): Condition[] {
    const { agent, kind, from, to } = filter;
    // Open runs are few: `COALESCE` keeps SQLite, which has no statistics, from reading all runs of the owner.
    const visible = this.ownership.filter(principal, isOpen(status) ? "COALESCE(principal_id, '')" : 'principal_id');
    const conditions: Condition[] = [
      ['status = ?', status],
      [visible.sql, ...visible.params],
    ];
    if (agent !== undefined) conditions.push(["COALESCE(agent, '') = ?", agent]);
    if (kind !== undefined) conditions.push(['kind = ?', kind]);
    if (isOpen(status)) return conditions;
    conditions.push(['created_at >= ?', from]);
    if (to !== undefined) conditions.push(['created_at < ?', to]);
    return conditions;
  }

  /** One row; of failed runs, one for each error code. */
  private ofStatus(status: RunStatus, conditions: readonly Condition[]): Promise<CountRow[]> {
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const params = conditions.flatMap(([, ...parameters]) => parameters);
    const [column, columns, group] =
      status === 'failed'
        ? ['error_code', 'error_code, COUNT(*) AS n', ' GROUP BY error_code']
        : ['1 AS one', 'COUNT(*) AS n', ''];
    const sql = `SELECT ${columns} FROM (SELECT ${column} FROM run WHERE ${where} LIMIT ?) counted${group}`;
    return this.database.query<CountRow>(sql, [...params, MAX_COUNTED]);
  }
}
