import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { fieldMistake, type Principal } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import type { SqlValue } from '../../persistence/statement/index.js';
import { Ownership } from '../../security/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { LISTED_COLUMNS, previewOf, toListedRun, type ListedRun, type ListRow } from './listed-run.mapper.js';
import { isOpen } from '../run-record.mapper.js';
import type { RunStatus } from '../run.types.js';

/** The filter of a run list; absent fields match every run. */
export interface RunFilter {
  readonly statuses?: readonly RunStatus[];
  readonly agent?: string;
  readonly kind?: string;
  readonly sessionId?: string;
  /** Failed with this code. Runs that failed under a version without this column do not match. */
  readonly errorCode?: string;
  /** Created at this time or later, epoch ms. */
  readonly from?: number;
  /** Created before this time, epoch ms. */
  readonly to?: number;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** The cursor of the next page; `null` on the last page. */
  readonly next: string | null;
}

/** A page of a search. */
export interface RunSearchPage extends RunPage {
  /** Creation time of the oldest run that was searched, epoch ms; `null` if no run matches the filter. */
  readonly searchedTo: number | null;
}

/** Runs that one search reads at most, and at once. */
const MAX_SEARCHED = 10_000;
const SEARCH_PAGE = 500;

/** Only failed runs have an error code. */
const FAILED: readonly RunStatus[] = ['failed'];

type Condition = readonly [sql: string, ...params: SqlValue[]];

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
    const { rows, next } = await this.page(principal, filter, limit, cursor);
    return { runs: this.toRuns(rows, principal.tenant), next };
  }

  /**
   * As `list`, only runs whose preview contains a text, in any letter case. Reads up to 10,000 runs that match the filter; a
   * page that ends there may have fewer runs than its limit.
   */
  async search(
    principal: Principal,
    { text, ...filter }: RunFilter & { readonly text: string },
    limit: number,
    cursor?: string,
  ): Promise<RunSearchPage> {
    const { tenant } = principal;
    const found: ListRow[] = [];
    let [place, searchedTo]: [string | undefined, number | null] = [cursor, null];
    for (let searched = 0; searched < MAX_SEARCHED;) {
      const { rows, next } = await this.page(principal, filter, SEARCH_PAGE, place);
      for (const row of rows) {
        place = cursorOf(row);
        searchedTo = row.created_at;
        searched++;
        if (contains(previewOf(row, tenant, this.cipher), text)) found.push(row);
        if (found.length === limit) break;
      }
      if (found.length < limit && next !== null) continue;
      const isAtEnd = next === null && (rows.length === 0 || place === cursorOf(rows.at(-1)!));
      return { runs: this.toRuns(found, tenant), next: isAtEnd ? null : place!, searchedTo };
    }
    return { runs: this.toRuns(found, tenant), next: place!, searchedTo };
  }

  private toRuns(rows: readonly ListRow[], tenant: string): ListedRun[] {
    return rows.map((row) => toListedRun(row, tenant, this.cipher));
  }

  private async page(
    principal: Principal,
    filter: RunFilter,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly rows: readonly ListRow[]; readonly next: string | null }> {
    const { statuses = filter.errorCode === undefined ? undefined : FAILED, ...rest } = filter;
    // The index of sessions finds few runs. `+ 0` and `COALESCE` keep SQLite from choosing another index,
    // as it has no statistics.
    const time = filter.sessionId === undefined ? 'created_at' : 'created_at + 0';
    const conditions = [...conditionsOf(rest, time), ...after(cursor, time)];
    // Each status is a sorted range of the index; one query over several statuses would have to sort.
    const queries = (statuses ? [...new Set(statuses)] : [undefined]).map((status) =>
      this.narrowest(principal, status, filter),
    );
    const found = await Promise.all(queries.map((more) => this.select([...more, ...conditions], limit + 1)));
    const rows = found.length === 1 ? found[0]! : merge(found);
    const page = rows.slice(0, limit);
    return { rows: page, next: rows.length > limit ? cursorOf(page.at(-1)!) : null };
  }

  /** Conditions of which the best index can use all that it has, and no other index one. */
  private narrowest(principal: Principal, status: RunStatus | undefined, filter: RunFilter): Condition[] {
    const { columns, onlyIf } = indexOf(status, filter, this.ownership.limitOf(principal) !== null);
    const columnOf = (name: ListedColumn) => (columns.includes(name) ? name : `COALESCE(${name}, '')`);
    const visible = this.ownership.filter(principal, columnOf('principal_id'));
    const { agent, kind, errorCode } = filter;
    const given = Object.entries({ status, agent, kind, error_code: errorCode }).flatMap(
      ([name, value]): Condition[] => (value === undefined ? [] : [[`${columnOf(name as ListedColumn)} = ?`, value]]),
    );
    return [...(onlyIf ? [[onlyIf] as Condition] : []), ...given, [visible.sql, ...visible.params]];
  }

  private select(conditions: readonly Condition[], limit: number): Promise<ListRow[]> {
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const params = conditions.flatMap(([, ...parameters]) => parameters);
    const sql = `SELECT ${LISTED_COLUMNS} FROM run WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
    return this.database.query<ListRow>(sql, [...params, limit]);
  }
}

function conditionsOf(filter: Omit<RunFilter, 'statuses'>, time: string): Condition[] {
  const { sessionId, from, to } = filter;
  const conditions: Condition[] = [];
  if (sessionId !== undefined) conditions.push(['session_id = ?', sessionId]);
  if (from !== undefined) conditions.push([`${time} >= ?`, from]);
  if (to !== undefined) conditions.push([`${time} < ?`, to]);
  return conditions;
}

type ListedColumn = 'status' | 'agent' | 'kind' | 'principal_id' | 'error_code';

/** The columns of an index after the tenant, and the condition of a partial one. */
interface ListIndex {
  readonly columns: readonly ListedColumn[];
  readonly onlyIf?: string;
}

const BY_SESSION: ListIndex = { columns: [] };
const BY_STATUS: ListIndex = { columns: ['status'] };
const BY_OWNER: ListIndex = { columns: ['principal_id'] };
const BY_FAILURE: ListIndex = { columns: ['principal_id', 'status'], onlyIf: "status IN ('failed', 'cancelled')" };
const BY_ERROR: ListIndex = { columns: ['error_code'] };
const BY_AGENT: ListIndex = { columns: ['agent'] };
/** Most runs are of agents, and in no index of kinds. */
const BY_KIND: ListIndex = { columns: ['kind'], onlyIf: "kind <> 'agent'" };

/**
 * The index that finds the fewest runs.
 * @param isOwn whether the caller sees its own runs only
 */
function indexOf(status: RunStatus | undefined, filter: RunFilter, isOwn: boolean): ListIndex {
  if (filter.sessionId !== undefined) return BY_SESSION;
  if (filter.errorCode !== undefined) return BY_ERROR;
  if (status !== undefined && isOpen(status)) return BY_STATUS;
  const isFailure = status !== undefined && status !== 'completed';
  if (isOwn) return isFailure ? BY_FAILURE : BY_OWNER;
  return isFailure ? BY_STATUS : indexOfAll(filter);
}

/** The index for completed runs, or runs of any status, of all principals. */
function indexOfAll({ agent, kind }: RunFilter): ListIndex {
  if (agent !== undefined) return BY_AGENT;
  return kind === undefined || kind === 'agent' ? BY_STATUS : BY_KIND;
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

function contains(preview: string | null, text: string): boolean {
  return preview !== null && preview.toLowerCase().includes(text.toLowerCase());
}
