import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import { Database, type SqlValue } from '../persistence/index.js';
import { Cipher, Ownership } from '../security/index.js';
import { runPlace } from './row-place.factory.js';
import type { RunSummary } from './run-summary.mapper.js';
import type { RunStatus } from './run.types.js';

/** The filter of a run list; absent fields match every run. */
export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly agent?: string;
  readonly sessionId?: string;
  /** Created at this time or later, epoch ms. */
  readonly from?: number;
  /** Created before this time, epoch ms. */
  readonly to?: number;
}

/** An entry of the run list. Times are epoch ms. */
export interface ListedRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** The source run of a fork. */
  readonly forkedFrom: string | null;
  /** The calling run. */
  readonly parentRunId: string | null;
  /** Time of the next attempt of a postponed run. */
  readonly notBefore: number | null;
  /** Code of the error that postponed the run last. */
  readonly outageCode: string | null;
  /** When its journal was deleted. */
  readonly prunedAt: number | null;
  /** `null` for an unfinished run. */
  readonly summary: RunSummary | null;
  /** Whether the stored summary is damaged. */
  readonly isDamaged?: true;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** The cursor of the next page; `null` on the last page. */
  readonly next: string | null;
}

interface ListRow {
  readonly id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly session_id: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly forked_from: string | null;
  readonly parent_run_id: string | null;
  readonly not_before: number | null;
  readonly outage_code: string | null;
  readonly pruned_at: number | null;
  readonly summary: string | null;
}

type Condition = readonly [sql: string, ...params: SqlValue[]];

const COLUMNS =
  'id, status, agent, session_id, created_at, finished_at, forked_from, parent_run_id, not_before, outage_code, pruned_at, summary';

/** Lists the runs that a principal may see, the newest first, always along an index. */
@Injectable()
export class RunListStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {}

  /**
   * @param cursor the `next` of the previous page
   * @param limit maximum runs of the page
   * @throws AppError `VALIDATION_FAILED` for a cursor that no page returned
   */
  async list(principal: Principal, filter: RunFilter, limit: number, cursor?: string): Promise<RunPage> {
    const { tenant } = principal;
    const { statuses, ...rest } = filter;
    // The index of sessions finds few runs. `+ 0` and `COALESCE` keep SQLite from choosing another index,
    // as it has no statistics.
    const isOfSession = filter.sessionId !== undefined;
    const time = isOfSession ? 'created_at + 0' : 'created_at';
    const visible = this.ownership.filter(principal, isOfSession ? "COALESCE(principal_id, '')" : 'principal_id');
    const conditions: Condition[] = [
      [visible.sql, ...visible.params],
      ...conditionsOf(rest, time),
      ...after(cursor, time),
    ];
    // Each status is a sorted range of the index; one query over several statuses would have to sort.
    const queries = statuses ? [...new Set(statuses)].map((status): Condition[] => [['status = ?', status]]) : [[]];
    const found = await Promise.all(queries.map((more) => this.select([...more, ...conditions], limit + 1)));
    const rows = found.length === 1 ? found[0]! : merge(found);
    const page = rows.slice(0, limit);
    return {
      runs: page.map((row) => toListedRun(row, tenant, this.cipher)),
      next: rows.length > limit ? cursorOf(page.at(-1)!) : null,
    };
  }

  private select(conditions: readonly Condition[], limit: number): Promise<ListRow[]> {
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const params = conditions.flatMap(([, ...parameters]) => parameters);
    const sql = `SELECT ${COLUMNS} FROM run WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
    return this.database.query<ListRow>(sql, [...params, limit]);
  }
}

function conditionsOf({ agent, sessionId, from, to }: Omit<RunFilter, 'statuses'>, time: string): Condition[] {
  const conditions: Condition[] = [];
  if (sessionId !== undefined) conditions.push(['session_id = ?', sessionId]);
  if (agent !== undefined) conditions.push(['agent = ?', agent]);
  if (from !== undefined) conditions.push([`${time} >= ?`, from]);
  if (to !== undefined) conditions.push([`${time} < ?`, to]);
  return conditions;
}

/** The rows after a place in the list. The first condition can use an index. */
function after(cursor: string | undefined, time: string): Condition[] {
  if (cursor === undefined) return [];
  const [, at, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined) {
    const message = 'cursor must be the "next" value of a page';
    throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
      details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
    });
  }
  return [[`${time} <= ? AND (created_at < ? OR id < ?)`, Number(at), Number(at), id]];
}

function cursorOf({ created_at, id }: ListRow): string {
  return `${created_at}.${id}`;
}

/** A run that changed its status between two of the queries is in both results. */
function merge(found: readonly ListRow[][]): ListRow[] {
  return [...new Map(found.flat().map((row) => [row.id, row])).values()].toSorted(newestFirst);
}

function newestFirst(a: ListRow, b: ListRow): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id < b.id ? 1 : -1;
}

/** A damaged summary does not hide the other runs of the list. */
function readSummary(
  { id, summary }: ListRow,
  tenant: string,
  cipher: Cipher,
): Pick<ListedRun, 'summary' | 'isDamaged'> {
  if (summary === null) return { summary: null };
  try {
    return { summary: cipher.openJson(summary, runPlace(tenant, id, 'summary')) as RunSummary };
  } catch (error) {
    if (!Cipher.isDamage(error)) throw error;
    return { summary: null, isDamaged: true };
  }
}

function toListedRun(row: ListRow, tenant: string, cipher: Cipher): ListedRun {
  return {
    id: row.id,
    status: row.status,
    agent: row.agent,
    sessionId: row.session_id,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    forkedFrom: row.forked_from,
    parentRunId: row.parent_run_id,
    notBefore: row.not_before,
    outageCode: row.outage_code,
    prunedAt: row.pruned_at,
    ...readSummary(row, tenant, cipher),
  };
}
