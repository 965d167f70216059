import type { Database } from '../../persistence/index.js';
import { insert, insertMany, type Row, type SqlValue, type Statement } from '../../persistence/statement/index.js';
import type { StateHistoryEntry, StateType } from '../tool-state.types.js';
import type { StateCodec } from './state-codec.js';
import { historyPlace, statePlace, versionPlace, type ContextOwner } from './state-place.factory.js';
import type { ContextWrite, StoredContext, StoredState, StoredVersion } from './state-store.js';

const CHANGE = `UPDATE tool_state SET revision = ?, used_at = ?, expires_at = ?, last_history = ?, last_change = ?
  WHERE id = ? AND revision = ?`;
const DROP_STATE = 'DELETE FROM tool_state_entry WHERE context_id = ? AND type = ?';
const FORGET_VERSIONS = 'DELETE FROM tool_state_version WHERE context_id = ? AND version < ?';
const FORGET_HISTORY = 'DELETE FROM tool_state_history WHERE context_id = ? AND n < ?';
const STATE_KEY = ['context_id', 'type'];

/** Child tables of a context. */
const PARTS = ['tool_state_entry', 'tool_state_version', 'tool_state_history'];

/** Creates the statements that change contexts in a database, for batches. */
export class StateStatementFactory {
  constructor(
    private readonly database: Database,
    private readonly codec: StateCodec,
  ) {}

  /** The first statement rejects the batch if the revision has changed. */
  write({ context, changed, version, history, ...oldest }: ContextWrite): Statement[] {
    const { id } = context;
    const statements = [headOf(context)];
    statements.push(...this.statesOf(context, changed));
    if (version) statements.push(this.versionOf(context, version));
    // Numbers start at 1.
    if (oldest.oldestVersion > 1) statements.push({ sql: FORGET_VERSIONS, params: [id, oldest.oldestVersion] });
    const rows = history.map((entry) => this.historyRow(context, entry));
    statements.push(...insertMany('tool_state_history', rows));
    if (oldest.oldestHistory > 1) statements.push({ sql: FORGET_HISTORY, params: [id, oldest.oldestHistory] });
    return statements;
  }

  /** Deletes the context, if it exists; the first statement deletes its main row. */
  remove(id: string): Statement[] {
    const parts = PARTS.map((table) => ({ sql: `DELETE FROM ${table} WHERE context_id = ?`, params: [id] }));
    return [{ sql: 'DELETE FROM tool_state WHERE id = ?', params: [id] }, ...parts];
  }

  /**
   * Marks the contexts before it deletes their parts, so that a context created concurrently stays complete. The update
   * waits for concurrent writers; later writers find no row.
   */
  removeAll(where: string, params: readonly SqlValue[]): Statement[] {
    const marked = `SELECT id FROM tool_state WHERE ${where} AND revision = 0`;
    return [
      { sql: `UPDATE tool_state SET revision = 0 WHERE ${where}`, params },
      ...PARTS.map((table) => ({ sql: this.deleteOf(table, marked), params })),
      { sql: `DELETE FROM tool_state WHERE ${where} AND revision = 0`, params },
    ];
  }

  /** MariaDB executes a DELETE with a subquery as a full table scan. */
  private deleteOf(table: string, ids: string): string {
    if (this.database.dialect !== 'mariadb') return `DELETE FROM ${table} WHERE context_id IN (${ids})`;
    return `DELETE part FROM (${ids}) AS marked JOIN ${table} AS part ON part.context_id = marked.id`;
  }

  private statesOf(context: StoredContext, changed: readonly StateType[]): Statement[] {
    const rows: Row[] = [];
    const dropped: Statement[] = [];
    for (const type of changed) {
      const state = context.states[type];
      if (state) rows.push(this.stateRow(context, type, state));
      else dropped.push({ sql: DROP_STATE, params: [context.id, type] });
    }
    return rows.length === 0 ? dropped : [this.database.upsert('tool_state_entry', rows, STATE_KEY), ...dropped];
  }

  private stateRow({ id, tenant }: ContextOwner, type: StateType, state: StoredState): Row {
    return {
      context_id: id,
      type,
      tenant,
      data: this.codec.seal(state.json, statePlace({ tenant, id }, type, state.version)),
      version: state.version,
      created_at: state.createdAt,
      updated_at: state.updatedAt,
      expires_at: state.expiresAt,
    };
  }

  private versionOf({ id, tenant }: ContextOwner, { version, json, at, by }: StoredVersion): Statement {
    const data = this.codec.seal(json, versionPlace({ tenant, id }, version));
    return insert('tool_state_version', { context_id: id, version, tenant, data, made_by: by, created_at: at });
  }

  private historyRow({ id, tenant }: ContextOwner, { n, at, kind, by, detail }: StateHistoryEntry): Row {
    const data = this.codec.seal(JSON.stringify(detail), historyPlace({ tenant, id }, n));
    return { context_id: id, n, tenant, kind, data, made_by: by, created_at: at };
  }
}

function headOf(context: StoredContext): Statement {
  const { id, revision, usedAt, expiresAt, lastHistory, lastChange } = context;
  if (revision === 1) return { ...insert('tool_state', rowOf(context)), rows: 1 };
  const params = [revision, usedAt, expiresAt, lastHistory, lastChange, id, revision - 1];
  return { sql: CHANGE, params, rows: 1 };
}

function rowOf(context: StoredContext): Record<string, SqlValue> {
  return {
    id: context.id,
    tenant: context.tenant,
    session_id: context.session,
    tool: context.tool,
    revision: context.revision,
    created_at: context.createdAt,
    used_at: context.usedAt,
    expires_at: context.expiresAt,
    is_of_run: context.isOfRun ? 1 : 0,
    last_history: context.lastHistory,
    last_change: context.lastChange,
  };
}
