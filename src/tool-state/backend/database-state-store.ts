import { parseExactJson } from '../../kernel/json/index.js';
import { inLists, isRefusedAtOnce, type Database, type InList } from '../../persistence/index.js';
import type { SqlValue, Statement } from '../../persistence/statement/index.js';
import type { ContextFilter, ContextKey, StateHistoryEntry, StateType } from '../tool-state.types.js';
import type { StateData } from '../../tool/stateful/index.js';
import type { StateCodec } from './state-codec.js';
import { historyPlace, statePlace, versionPlace } from './state-place.factory.js';
import { StateStatementFactory } from './state-statement.factory.js';
import {
  StateStore,
  type ContextWrite,
  type StoredContext,
  type StoredState,
  type StoredVersion,
} from './state-store.js';

interface ContextRow {
  readonly tenant: string;
  readonly session_id: string;
  readonly tool: string;
  readonly revision: number;
  readonly created_at: number;
  readonly used_at: number;
  readonly expires_at: number | null;
  readonly is_of_run: number;
  readonly last_history: number;
  readonly last_change: string | null;
}

/** A context joined with one of its states; `type` is `null` for a context without states. */
interface StateRow extends ContextRow {
  readonly type: StateType | null;
  readonly data: string;
  readonly version: number;
  readonly state_created_at: number;
  readonly state_updated_at: number;
  readonly state_expires_at: number | null;
}

interface PartRow {
  readonly tenant: string;
  readonly n: number;
  readonly data: string;
  readonly made_by: string | null;
  readonly created_at: number;
}

interface HistoryRow extends PartRow {
  readonly kind: StateHistoryEntry['kind'];
}

const LOAD = `SELECT c.tenant, c.session_id, c.tool, c.revision, c.created_at, c.used_at, c.expires_at, c.is_of_run,
    c.last_history, c.last_change, s.type, s.data, s.version,
    s.created_at AS state_created_at, s.updated_at AS state_updated_at, s.expires_at AS state_expires_at
  FROM tool_state c LEFT JOIN tool_state_entry s ON s.context_id = c.id WHERE c.id = ?`;
const VERSIONS = `SELECT tenant, version AS n, data, made_by, created_at FROM tool_state_version
  WHERE context_id = ? ORDER BY version DESC`;
/** `LIMIT` of an unlimited query. */
const NO_LIMIT = 1_000_000;

/** Stores contexts in the journal's database, whose batches can include the writes, or in another database. */
export class DatabaseStateStore extends StateStore {
  private readonly factory: StateStatementFactory;

  /** @param closeDatabase closes a database that only this store uses */
  constructor(
    private readonly database: Database,
    private readonly codec: StateCodec,
    private readonly closeDatabase: () => Promise<void> = async () => undefined,
  ) {
    super();
    this.factory = new StateStatementFactory(database, codec);
  }

  async load(id: string): Promise<StoredContext | null> {
    const rows = await this.database.query<StateRow>(LOAD, [id]);
    const [head] = rows;
    if (!head) return null;
    const states: Partial<Record<StateType, StoredState>> = {};
    for (const row of rows) if (row.type !== null) states[row.type] = this.toState(id, row);
    return { ...toContext(id, head), states };
  }

  async keyOf(id: string): Promise<ContextKey | null> {
    const sql = 'SELECT tenant, session_id, tool FROM tool_state WHERE id = ?';
    const [row] = await this.database.query<Pick<ContextRow, 'tenant' | 'session_id' | 'tool'>>(sql, [id]);
    return row ? { tenant: row.tenant, session: row.session_id, tool: row.tool } : null;
  }

  write(write: ContextWrite): Promise<boolean> {
    return this.commit(this.statements(write));
  }

  /** Statements of a write. The first one rejects the batch if the revision has changed. */
  statements(write: ContextWrite): Statement[] {
    return this.factory.write(write);
  }

  async versions(id: string): Promise<StoredVersion[]> {
    const rows = await this.database.query<PartRow>(VERSIONS, [id]);
    return rows.map(({ tenant, n, data, made_by, created_at }) => ({
      version: n,
      json: this.codec.open(data, versionPlace({ tenant, id }, n)),
      at: created_at,
      by: made_by,
    }));
  }

  async history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const sql = `SELECT tenant, n, kind, data, made_by, created_at FROM tool_state_history
      WHERE context_id = ? ${before === undefined ? '' : 'AND n < ? '}ORDER BY n DESC LIMIT ?`;
    const rows = await this.database.query<HistoryRow>(sql, [id, ...(before === undefined ? [] : [before]), limit]);
    return rows.map(({ tenant, n, kind, data, made_by, created_at }) => ({
      n,
      at: created_at,
      kind,
      by: made_by,
      detail: parseExactJson(this.codec.open(data, historyPlace({ tenant, id }, n))) as StateData,
    }));
  }

  remove(id: string, revision?: number): Promise<boolean> {
    const [context, ...parts] = this.statementsToRemove(id);
    const only = revision === undefined ? { sql: '', params: [] } : { sql: ' AND revision = ?', params: [revision] };
    return this.commit([{ sql: context!.sql + only.sql, params: [id, ...only.params], rows: 1 }, ...parts]);
  }

  /** Statements that delete a context, whether or not it exists. */
  statementsToRemove(id: string): Statement[] {
    return this.factory.remove(id);
  }

  /** Statements that delete all contexts of a session. */
  statementsToRemoveOf(tenant: string, session: string): Statement[] {
    return this.factory.removeAll('tenant = ? AND session_id = ?', [tenant, session]);
  }

  /** Statements that delete the run-scoped contexts of a session. */
  statementsToRemoveRun(tenant: string, session: string): Statement[] {
    return this.factory.removeAll('tenant = ? AND session_id = ? AND is_of_run = 1', [tenant, session]);
  }

  async list({ sessions, ...filter }: ContextFilter): Promise<string[]> {
    if (sessions === undefined) return this.select(filter);
    const pages = inLists(sessions).map((within) => this.select(filter, within));
    return (await Promise.all(pages)).flat().toSorted().slice(0, filter.limit);
  }

  private select(
    { tenant, tool, session, after, limit = NO_LIMIT }: ContextFilter,
    within?: InList,
  ): Promise<string[]> {
    const conditions: [string, SqlValue | undefined][] = [
      ['tenant = ?', tenant],
      ['session_id = ?', session],
      ['tool = ?', tool],
      ['id > ?', after],
      ['(expires_at IS NULL OR expires_at > ?)', Date.now()],
    ];
    const meant = conditions.filter(([, value]) => value !== undefined);
    const isWithin = within ? [`session_id IN (${within.marks})`] : [];
    const where = [...meant.map(([condition]) => condition), ...isWithin].join(' AND ');
    const params = [...meant.map(([, value]) => value!), ...(within?.params ?? [])];
    return this.ids(`SELECT id FROM tool_state WHERE ${where} ORDER BY id LIMIT ?`, [...params, limit]);
  }

  async tenants(): Promise<string[]> {
    const rows = await this.database.query<{ tenant: string }>('SELECT DISTINCT tenant FROM tool_state');
    return rows.map(({ tenant }) => tenant);
  }

  expired(now: number, limit: number): Promise<string[]> {
    return this.ids('SELECT id FROM tool_state WHERE expires_at <= ? ORDER BY expires_at LIMIT ?', [now, limit]);
  }

  override purge(): Promise<void> {
    return this.database.purge();
  }

  close(): Promise<void> {
    return this.closeDatabase();
  }

  /** @returns false if the first statement affected no row */
  private async commit(statements: readonly Statement[]): Promise<boolean> {
    try {
      await this.database.commit(statements);
      return true;
    } catch (error) {
      if (isRefusedAtOnce(error)) return false;
      throw error;
    }
  }

  private async ids(sql: string, params: readonly SqlValue[]): Promise<string[]> {
    return (await this.database.query<{ id: string }>(sql, params)).map(({ id }) => id);
  }

  private toState(id: string, row: StateRow): StoredState {
    return {
      json: this.codec.open(row.data, statePlace({ tenant: row.tenant, id }, row.type!, row.version)),
      version: row.version,
      createdAt: row.state_created_at,
      updatedAt: row.state_updated_at,
      expiresAt: row.state_expires_at,
    };
  }
}

function toContext(id: string, row: ContextRow): Omit<StoredContext, 'states'> {
  return {
    id,
    tenant: row.tenant,
    session: row.session_id,
    tool: row.tool,
    revision: row.revision,
    createdAt: row.created_at,
    usedAt: row.used_at,
    expiresAt: row.expires_at,
    isOfRun: row.is_of_run === 1,
    lastHistory: row.last_history,
    lastChange: row.last_change,
  };
}
