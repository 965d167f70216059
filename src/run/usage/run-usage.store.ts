import { Injectable } from '@nestjs/common';
import { dayOf, type Principal } from '../../kernel/index.js';
import { fromUnits, type JournaledUsage } from '../../llm/index.js';
import { Database, type SqlValue, withLongCalls } from '../../persistence/index.js';
import { Ownership } from '../../security/index.js';
import type { RunUsage } from '../run-event.types.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';
import {
  type CallLatency,
  type LatencyEntry,
  type LatencyRow,
  SELECT_LATENCY,
  toCallLatency,
} from './call-latency.mapper.js';

/** The filter of a usage sum; absent fields match every call. */
export interface UsageFilter {
  /** The caller, who may not see every call; if absent, the calls of all tenants count. */
  readonly principal?: Principal;
  readonly sessionId?: string;
  readonly agent?: string;
  readonly model?: string;
  /** The first day, UTC: `2027-01-31`. */
  readonly from?: string;
  /** The last day. */
  readonly to?: string;
}

/** The grouping of sums. */
export type UsageKind = 'day' | 'session' | 'agent' | 'model' | 'tenant';

/** Total usage of several calls. */
export interface UsageSum {
  readonly calls: number;
  readonly usage: RunUsage;
}

/** The sum of a day, a session, an agent, a model or a tenant. */
export interface UsageEntry extends UsageSum {
  /** Its name; empty for calls without a session, and for calls of deleted runs, whose agent is unknown. */
  readonly key: string;
}

export interface UsagePage {
  /** Ordered by key. */
  readonly entries: readonly UsageEntry[];
  /** The key after which the next page starts; `null` on the last page. */
  readonly next: string | null;
}

const PAGE = 500;
const COLUMN_OF: Readonly<Record<UsageKind, string>> = {
  day: 'day',
  session: 'session_id',
  // Unknown for calls of runs that were deleted before the column existed.
  agent: "COALESCE(agent, '')",
  model: 'model',
  tenant: 'tenant',
};
const SUMS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost',
] as const;
const SELECT_SUMS = ['COUNT(*) AS calls', ...SUMS.map((name) => `SUM(${name}) AS ${name}`)].join(', ');

interface UsageRow {
  readonly run_id: string;
  readonly n: number;
  readonly tenant: string;
  readonly session_id: string;
  readonly total_tokens: number;
  readonly cost: number | null;
  readonly created_at: number;
  /** The run whose budget counts the call, if it is another run. */
  readonly root_run_id: string | null;
  /** `null` once its run is pruned. */
  readonly agent: string | null;
  /** Status of the run whose budget counts the call; `null` once that is pruned. */
  readonly status: RunStatus | null;
}

export interface LatencyPage {
  /** Ordered by key. */
  readonly entries: readonly LatencyEntry[];
  /** The key after which the next page starts; `null` on the last page. */
  readonly next: string | null;
}

/** The usage of a call, and the run's agent while that is known. */
export interface AgentUsage extends JournaledUsage {
  readonly agent: string | null;
}

/** Sums are numbers or texts, depending on the database. */
type SumRow = Readonly<Record<(typeof SUMS)[number], number | string | null>> & { readonly calls: number | string };
type GroupRow = SumRow & { readonly key_name: string };
type LatencyGroupRow = LatencyRow & { readonly key_name: string };

/** The journaled usage of models, one row per call. Sums it, and lists it to rebuild budgets. */
@Injectable()
export class RunUsageStore {
  constructor(
    private readonly database: Database,
    private readonly ownership: Ownership,
  ) {}

  async total(filter: UsageFilter): Promise<UsageSum> {
    const { where, params } = this.conditionsOf(filter);
    const sql = `SELECT ${SELECT_SUMS} FROM run_usage${where}`;
    const [row] = await withLongCalls(() => this.database.query<SumRow>(sql, params));
    return toSum(row!);
  }

  /**
   * @param after the `next` of the previous page
   * @param limit maximum entries of the page
   */
  async page(filter: UsageFilter, kind: UsageKind, limit: number, after?: string): Promise<UsagePage> {
    const column = COLUMN_OF[kind];
    const { where, params } = this.conditionsOf(filter, after === undefined ? [] : [[`${column} > ?`, after]]);
    const sql = `SELECT ${column} AS key_name, ${SELECT_SUMS} FROM run_usage${where} GROUP BY ${column} ORDER BY ${column} LIMIT ?`;
    const rows = await withLongCalls(() => this.database.query<GroupRow>(sql, [...params, limit + 1]));
    const entries = rows.slice(0, limit).map((row): UsageEntry => ({ key: row.key_name, ...toSum(row) }));
    return { entries, next: rows.length > limit ? entries.at(-1)!.key : null };
  }

  /** The durations of all calls. */
  async latency(filter: UsageFilter): Promise<CallLatency> {
    const { where, params } = this.conditionsOf(filter);
    const sql = `SELECT ${SELECT_LATENCY} FROM run_usage${where}`;
    const [row] = await withLongCalls(() => this.database.query<LatencyRow>(sql, params));
    return toCallLatency(row!);
  }

  /** As `page`, of durations. */
  async latencyPage(filter: UsageFilter, kind: UsageKind, limit: number, after?: string): Promise<LatencyPage> {
    const column = COLUMN_OF[kind];
    const { where, params } = this.conditionsOf(filter, after === undefined ? [] : [[`${column} > ?`, after]]);
    const sql = `SELECT ${column} AS key_name, ${SELECT_LATENCY} FROM run_usage${where} GROUP BY ${column} ORDER BY ${column} LIMIT ?`;
    const rows = await withLongCalls(() => this.database.query<LatencyGroupRow>(sql, [...params, limit + 1]));
    const entries = rows.slice(0, limit).map((row) => ({ key: row.key_name, ...toCallLatency(row) }));
    return { entries, next: rows.length > limit ? entries.at(-1)!.key : null };
  }

  /** Whether no run is running, so that all usage is journaled. */
  async isQuiet(): Promise<boolean> {
    return (await this.database.query("SELECT id FROM run WHERE status = 'running' LIMIT 1")).length === 0;
  }

  /** Every call, page by page, in the order of the runs. */
  async *usages(): AsyncGenerator<AgentUsage, void> {
    let [runId, n] = ['', 0];
    for (;;) {
      const rows = await this.database.query<UsageRow>(
        `SELECT u.run_id, u.n, u.tenant, u.session_id, u.total_tokens, u.cost, u.created_at, run.root_run_id, run.agent, top.status
          FROM run_usage u LEFT JOIN run ON run.id = u.run_id LEFT JOIN run top ON top.id = COALESCE(run.root_run_id, run.id)
          WHERE u.run_id > ? OR (u.run_id = ? AND u.n > ?) ORDER BY u.run_id, u.n LIMIT ?`,
        [runId, runId, n, PAGE],
      );
      for (const row of rows) yield toUsage(row);
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      [runId, n] = [last.run_id, last.n];
    }
  }

  /** Deletes up to `limit` calls of days before the day of a time (epoch ms). @returns whether there are more */
  async drop(before: number, limit: number): Promise<boolean> {
    const [old, params] = ['day < ?', [dayOf(before)]];
    await this.database.commit([this.database.limitedDelete('run_usage', ['run_id', 'n'], old, params, limit)]);
    return (await this.database.query(`SELECT day FROM run_usage WHERE ${old} LIMIT 1`, params)).length > 0;
  }

  private conditionsOf(
    { principal, sessionId, agent, model, from, to }: UsageFilter,
    more: readonly (readonly [sql: string, value: string])[] = [],
  ): { where: string; params: SqlValue[] } {
    const visible = principal && this.ownership.filter(principal, 'principal_id');
    const all: readonly (readonly [sql: string, value: string | undefined])[] = [
      ['session_id = ?', sessionId],
      ['agent = ?', agent],
      ['model = ?', model],
      ['day >= ?', from],
      ['day <= ?', to],
      ...more,
    ];
    const given = all.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, params: [value] }]));
    const conditions = [...(visible ? [visible] : []), ...given];
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    return { where, params: conditions.flatMap(({ params }) => params) };
  }
}

function toSum({ calls, cached_tokens, cache_write_tokens, reasoning_tokens, cost, ...row }: SumRow): UsageSum {
  return {
    calls: Number(calls),
    usage: {
      prompt_tokens: Number(row.prompt_tokens),
      completion_tokens: Number(row.completion_tokens),
      total_tokens: Number(row.total_tokens),
      ...(cached_tokens !== null && { cached_tokens: Number(cached_tokens) }),
      ...(cache_write_tokens !== null && { cache_write_tokens: Number(cache_write_tokens) }),
      ...(reasoning_tokens !== null && { reasoning_tokens: Number(reasoning_tokens) }),
      ...(cost !== null && { cost: fromUnits(Number(cost)) }),
    },
  };
}

function toUsage({ tenant, run_id: runId, root_run_id, session_id, n, agent, status, ...row }: UsageRow): AgentUsage {
  const sessionId = session_id === '' ? null : session_id;
  const root = root_run_id !== null && { rootRunId: root_run_id };
  const account = { tenant, runId, ...root, sessionId, step: `usage:${n}` };
  const isOver = status === null || !isOpen(status);
  return { account, agent, at: row.created_at, isOver, tokens: row.total_tokens, cost: fromUnits(row.cost ?? 0) };
}
