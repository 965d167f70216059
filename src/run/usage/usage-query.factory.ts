import type { Principal } from '../../kernel/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import type { SummedColumn } from './summed-column.js';
import { ALL_PRINCIPALS } from './usage-day.store.js';

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

/** One row per key, in the order of the keys. */
export interface UsageGroup {
  readonly kind: UsageKind;
  readonly limit: number;
  /** Only keys after this one. */
  readonly after: string | undefined;
}

interface UsageQuery {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** A table of numbers: the expressions of its columns, and its conditions. */
interface Source {
  readonly table: string;
  readonly columnOf: (name: ColumnName) => string;
  readonly numberOf: (column: SummedColumn) => string;
  readonly always: string;
}

type ColumnName = 'day' | 'session_id' | 'agent' | 'model' | 'tenant' | 'principal_id';

const COLUMN_OF: Readonly<Record<UsageKind, ColumnName>> = {
  day: 'day',
  session: 'session_id',
  agent: 'agent',
  model: 'model',
  tenant: 'tenant',
};

const SUMS: Source = {
  table: 'usage_day',
  columnOf: (name) => name,
  numberOf: ({ name }) => name,
  always: '',
};
/** Few: `COALESCE` keeps SQLite, which has no statistics, from choosing another index. */
const UNSUMMED_CALLS: Source = {
  table: 'run_usage',
  columnOf: (name) => `COALESCE(${name}, '')`,
  numberOf: ({ ofCall }) => ofCall,
  always: 'unsummed = 1',
};
/** The agent is unknown for calls of runs that were deleted before the column existed. */
const CALLS: Source = {
  table: 'run_usage',
  columnOf: (name) => (name === 'agent' ? `COALESCE(agent, '')` : name),
  numberOf: ({ ofCall }) => ofCall,
  always: '',
};

/** `COALESCE` leaves the index of days. */
const CALLS_OF_DAYS: Source = {
  ...CALLS,
  columnOf: (name) => (name === 'tenant' ? `COALESCE(tenant, '')` : CALLS.columnOf(name)),
};

/**
 * A query of sums. Sums of sessions are those of their calls, along an index; all others are daily sums and the calls that
 * these lack.
 * @param owner the principal whose calls alone count
 */
export function toUsageQuery(
  columns: readonly SummedColumn[],
  filter: UsageFilter,
  owner: string | null,
  group?: UsageGroup,
): UsageQuery {
  const sources = sourcesOf(filter, owner, group);
  const parts = sources.map((source) => toPart(source, columns, conditionsOf(source, filter, owner, group), group));
  const sums = columns.map(({ name }) => `SUM(${name}) AS ${name}`).join(', ');
  const from = `FROM (${parts.map(({ sql }) => sql).join(' UNION ALL ')}) counted`;
  const params = parts.flatMap((part) => part.params);
  if (!group) return { sql: `SELECT ${sums} ${from}`, params };
  const sql = `SELECT key_name, ${sums} ${from} GROUP BY key_name ORDER BY key_name LIMIT ?`;
  return { sql, params: [...params, group.limit] };
}

function sourcesOf({ sessionId, from, to }: UsageFilter, owner: string | null, group?: UsageGroup): readonly Source[] {
  if (sessionId !== undefined) return [CALLS];
  if (group?.kind !== 'session') return [SUMS, UNSUMMED_CALLS];
  return owner === null && (from !== undefined || to !== undefined) ? [CALLS_OF_DAYS] : [CALLS];
}

type Condition = readonly [sql: string, value: string | undefined];

function toPart(
  { table, columnOf, numberOf, always }: Source,
  columns: readonly SummedColumn[],
  conditions: readonly Condition[],
  group: UsageGroup | undefined,
): UsageQuery {
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = [...(always === '' ? [] : [always]), ...given.map(([sql]) => sql)];
  const key = group ? [`${columnOf(COLUMN_OF[group.kind])} AS key_name`] : [];
  const selected = [...key, ...columns.map((column) => `${numberOf(column)} AS ${column.name}`)];
  const sql = `SELECT ${selected.join(', ')} FROM ${table}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`;
  return { sql, params: given.map(([, value]) => value!) };
}

function conditionsOf(
  source: Source,
  { principal, sessionId, agent, model, from, to }: UsageFilter,
  owner: string | null,
  group: UsageGroup | undefined,
): Condition[] {
  const { columnOf } = source;
  const ofAll = source === SUMS ? ALL_PRINCIPALS : undefined;
  return [
    [`${columnOf('principal_id')} = ?`, owner ?? ofAll],
    [`${columnOf('tenant')} = ?`, principal?.tenant],
    [`${columnOf('session_id')} = ?`, sessionId],
    [`${columnOf('agent')} = ?`, agent],
    [`${columnOf('model')} = ?`, model],
    [`${columnOf('day')} >= ?`, from],
    [`${columnOf('day')} <= ?`, to],
    ...(group ? [[`${columnOf(COLUMN_OF[group.kind])} > ?`, group.after] as const] : []),
  ];
}
