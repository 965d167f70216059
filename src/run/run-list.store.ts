import { Injectable } from '@nestjs/common';
import { AppError, fieldMistake, type Principal } from '../common/index.js';
import { Database, type SqlValue } from '../persistence/index.js';
import { Cipher, PLAIN_CIPHER } from '../security/index.js';
import { runPlace } from './row-place.factory.js';
import { parseRunSummary, type RunSummary } from './run-summary.mapper.js';
import type { RunStatus } from './run.types.js';

/** Which runs are asked for; what is left out does not matter. */
export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly agent?: string;
  readonly sessionId?: string;
  /** Created at this time or later, epoch ms. */
  readonly from?: number;
  /** Created before this time, epoch ms. */
  readonly to?: number;
}

/** A run as a list tells it. Times are epoch ms. */
export interface ListedRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** The run that it is a fork of. */
  readonly forkedFrom: string | null;
  /** The run that called it. */
  readonly parentRunId: string | null;
  /** When its journal was deleted. */
  readonly prunedAt: number | null;
  /** `null` while it has not ended. */
  readonly summary: RunSummary | null;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** What to give as cursor for the next page; `null` on the last one. */
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
  readonly pruned_at: number | null;
  readonly summary: string | null;
}

type Condition = readonly [sql: string, ...params: SqlValue[]];

const COLUMNS =
  'id, status, agent, session_id, created_at, finished_at, forked_from, parent_run_id, pruned_at, summary';

/** Finds a tenant's runs, the newest first, always along an index. */
@Injectable()
export class RunListStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher = PLAIN_CIPHER,
  ) {}

  /**
   * @param cursor the `next` of the page before
   * @param limit the most runs of the page
   * @throws AppError `VALIDATION_FAILED` for a cursor that no page gave
   */
  async list({ tenant }: Principal, filter: RunFilter, limit: number, cursor?: string): Promise<RunPage> {
    const { statuses, ...rest } = filter;
    // Of a session the index finds all runs, which are few. Without statistics SQLite would take a time to be the better key.
    const time = filter.sessionId === undefined ? 'created_at' : 'created_at + 0';
    const conditions: Condition[] = [['tenant = ?', tenant], ...conditionsOf(rest, time), ...after(cursor, time)];
    // Each status has its own stretch of the index, in order; all of them together would have to be sorted.
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
    const params = conditions.flatMap(([, ...given]) => given);
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

/** What comes after a place in the list. The first half says it in a way that an index can use. */
function after(cursor: string | undefined, time: string): Condition[] {
  if (cursor === undefined) return [];
  const [, at, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined) {
    const message = 'cursor must be the "next" of a page';
    throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
      details: { errors: [fieldMistake('cursor', message, 'isCursor', cursor)] },
    });
  }
  return [[`${time} <= ? AND (created_at < ? OR id < ?)`, Number(at), Number(at), id]];
}

function cursorOf({ created_at, id }: ListRow): string {
  return `${created_at}.${id}`;
}

/** A run that changed its status between two of the queries is in both. */
function merge(found: readonly ListRow[][]): ListRow[] {
  return [...new Map(found.flat().map((row) => [row.id, row])).values()].toSorted(newestFirst);
}

function newestFirst(a: ListRow, b: ListRow): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id < b.id ? 1 : -1;
}

function toListedRun(row: ListRow, tenant: string, cipher: Cipher): ListedRun {
  const summary = row.summary && cipher.open(row.summary, runPlace(tenant, row.id, 'summary'));
  return {
    id: row.id,
    status: row.status,
    agent: row.agent,
    sessionId: row.session_id,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    forkedFrom: row.forked_from,
    parentRunId: row.parent_run_id,
    prunedAt: row.pruned_at,
    summary: parseRunSummary(summary),
  };
}
