import { Injectable } from '@nestjs/common';
import { dayOf } from '../../kernel/index.js';
import type { JournaledUsage } from '../../llm/budget/index.js';
import { fromUnits } from '../../llm/models/index.js';
import { Database, withLongCalls } from '../../persistence/index.js';
import { Ownership } from '../../security/index.js';
import type { RunUsage } from '../event/run-event.types.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';
import { type CallLatency, type LatencyEntry, type LatencyRow, toCallLatency } from './call-latency.mapper.js';
import { LATENCY_COLUMNS, type SummedColumn, type TokenColumn, USAGE_COLUMNS } from './summed-column.js';
import { USAGE_DAY_KEY } from './usage-day.store.js';
import { type UsageFilter, type UsageGroup, type UsageKind, toUsageQuery } from './usage-query.factory.js';

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
type SumRow = Readonly<Record<TokenColumn | 'calls', number | string | null>>;
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
    const [row] = await this.sums<SumRow>(USAGE_COLUMNS, filter);
    return toSum(row!);
  }

  /**
   * @param after the `next` of the previous page
   * @param limit maximum entries of the page
   */
  async page(filter: UsageFilter, kind: UsageKind, limit: number, after?: string): Promise<UsagePage> {
    const rows = await this.sums<GroupRow>(USAGE_COLUMNS, filter, { kind, limit: limit + 1, after });
    return toPage(rows, limit, toSum);
  }

  /** The durations of all calls. */
  async latency(filter: UsageFilter): Promise<CallLatency> {
    const [row] = await this.sums<LatencyRow>(LATENCY_COLUMNS, filter);
    return toCallLatency(row!);
  }

  /** As `page`, of durations. */
  async latencyPage(filter: UsageFilter, kind: UsageKind, limit: number, after?: string): Promise<LatencyPage> {
    const rows = await this.sums<LatencyGroupRow>(LATENCY_COLUMNS, filter, { kind, limit: limit + 1, after });
    return toPage(rows, limit, toCallLatency);
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

  /** Deletes up to `limit` calls and sums of days before the day of a time (epoch ms). @returns whether there are more */
  async drop(before: number, limit: number): Promise<boolean> {
    const [old, params] = ['day < ?', [dayOf(before)]];
    await this.database.commit([
      this.database.limitedDelete('run_usage', ['run_id', 'n'], old, params, limit),
      this.database.limitedDelete('usage_day', USAGE_DAY_KEY, old, params, limit),
    ]);
    // Without the order, PostgreSQL expects a third of the rows to match, and reads the whole table to find none.
    const left = ['run_usage', 'usage_day'].map((table) =>
      this.database.query(`SELECT day FROM ${table} WHERE ${old} ORDER BY day LIMIT 1`, params),
    );
    return (await Promise.all(left)).some((rows) => rows.length > 0);
  }

  private sums<Found>(columns: readonly SummedColumn[], filter: UsageFilter, group?: UsageGroup): Promise<Found[]> {
    const { principal } = filter;
    const owner = principal ? this.ownership.limitOf(principal) : null;
    const { sql, params } = toUsageQuery(columns, filter, owner, group);
    return withLongCalls(() => this.database.query<Found>(sql, params));
  }
}

function toPage<Found extends { readonly key_name: string }, Sum extends object>(
  rows: readonly Found[],
  limit: number,
  toEntry: (row: Found) => Sum,
): { entries: ({ readonly key: string } & Sum)[]; next: string | null } {
  const entries = rows.slice(0, limit).map((row) => ({ key: row.key_name, ...toEntry(row) }));
  return { entries, next: rows.length > limit ? entries.at(-1)!.key : null };
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
