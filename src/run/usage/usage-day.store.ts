import { Injectable } from '@nestjs/common';
import { Database, refusalOf } from '../../persistence/index.js';
import type { Row, SqlValue, Statement } from '../../persistence/statement/index.js';
import { LATENCY_COLUMNS, type SummedColumn, USAGE_COLUMNS } from './summed-column.js';

/** The primary key of `usage_day`. */
export const USAGE_DAY_KEY = ['principal_id', 'tenant', 'day', 'agent', 'model'] as const;

/** The principal of sums over all principals of a tenant. */
export const ALL_PRINCIPALS = '';

/** A call with its numbers. */
interface CallRow extends Readonly<Record<string, SqlValue>> {
  readonly run_id: string;
  readonly n: number;
  readonly principal_id: string | null;
  readonly tenant: string;
  readonly day: string;
  readonly agent: string;
  readonly model: string;
}

interface DaySum {
  /** The values of `USAGE_DAY_KEY`. */
  readonly key: readonly string[];
  /** Of `NUMBERS`; `null` where no call has the value. */
  readonly numbers: (number | null)[];
}

const NUMBERS: readonly SummedColumn[] = [...USAGE_COLUMNS, ...LATENCY_COLUMNS];
const SELECT_UNSUMMED = `SELECT run_id, n, principal_id, tenant, day, COALESCE(agent, '') AS agent, model,
    ${NUMBERS.map(({ name, ofCall }) => `${ofCall} AS ${name}`).join(', ')}
  FROM run_usage WHERE unsummed = 1 ORDER BY run_id, n LIMIT ?`;
/** Refuses a call that another process has added, or whose principal was erased since it was read. */
const MARK_SUMMED = `UPDATE run_usage SET unsummed = NULL
  WHERE run_id = ? AND n = ? AND unsummed = 1 AND COALESCE(principal_id, '') = ?`;

/**
 * Daily sums of usage, by principal, tenant, agent and model. Each call is inserted as unsummed, and added to the sums
 * later, in the batch that marks it: no run waits for a sum. A total is the sums and the unsummed calls.
 */
@Injectable()
export class UsageDayStore {
  constructor(private readonly database: Database) {}

  /** As `Database.onceOpen`. */
  onceOpen(work: () => void): Promise<void> {
    return this.database.onceOpen(work);
  }

  /** Adds up to `limit` calls to the sums. @returns whether there may be more for this process */
  async add(limit: number): Promise<boolean> {
    const calls = await this.database.query<CallRow>(SELECT_UNSUMMED, [limit]);
    if (calls.length === 0) return false;
    try {
      await this.database.commit([...calls.map(toMark), ...this.sumsOf(calls)]);
    } catch (error) {
      if (refusalOf(error)) return false;
      throw error;
    }
    return calls.length === limit;
  }

  /** In the order of their keys, so that two processes never wait for each other. */
  private sumsOf(calls: readonly CallRow[]): Statement[] {
    const sums = new Map<string, DaySum>();
    for (const call of calls) {
      add(sums, call, ALL_PRINCIPALS);
      if (call.principal_id !== null) add(sums, call, call.principal_id);
    }
    const ordered = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return ordered.map(([, sum]) => this.database.accumulate('usage_day', toRow(sum), USAGE_DAY_KEY));
  }
}

function toMark({ run_id, n, principal_id }: CallRow): Statement {
  return { sql: MARK_SUMMED, params: [run_id, n, principal_id ?? ''], rows: 1 };
}

function add(sums: Map<string, DaySum>, call: CallRow, principal: string): void {
  const key = [principal, call.tenant, call.day, call.agent, call.model];
  const name = JSON.stringify(key);
  let sum = sums.get(name);
  if (!sum) sums.set(name, (sum = { key, numbers: NUMBERS.map(() => null) }));
  for (const [at, { name: column }] of NUMBERS.entries()) {
    const value = call[column];
    if (value !== null) sum.numbers[at] = (sum.numbers[at] ?? 0) + Number(value);
  }
}

function toRow({ key, numbers }: DaySum): Row {
  const names = USAGE_DAY_KEY.map((column, at) => [column, key[at]!]);
  return Object.fromEntries([...names, ...NUMBERS.map(({ name }, at) => [name, numbers[at]!])]) as Row;
}
