import { type Principal } from '../kernel/index.js';
import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { Database, refusalOf } from '../persistence/index.js';
import { insert, type Statement } from '../persistence/statement/index.js';
import { sessionIsFree } from '../run/index.js';
import { type DataFact, isPrivate, isTainted } from '../run/facts/index.js';
import { Ownership, type RowFilter } from '../security/index.js';
import { Cipher } from '../security/encryption/index.js';
import { sealMetadata, type SessionRow, toListedSession, toSession } from './session-row.mapper.js';
import type { SessionKey, SessionRecord } from './session.types.js';

/** A session created by its first run. */
export interface StartedSession extends Pick<NewSession, 'owner' | 'now'> {
  /** The parent session, whose agent talks with another agent in this one. */
  readonly parentId?: string | undefined;
}

export interface NewSession {
  readonly owner: string;
  readonly turns?: number;
  readonly clearedTurn?: number;
  readonly messages?: number;
  readonly metadata?: SessionRecord['metadata'];
  readonly taintedTurn?: number | null;
  readonly privateTurn?: number | null;
  readonly dataFacts?: readonly DataFact[];
  /** Epoch ms. */
  readonly now: number;
}

/** The last session of a page. */
export type SessionPlace = Pick<SessionRecord, 'createdAt' | 'id'>;

/**
 * Session data except turns, in the journal's database. Changes are statements, so that a run commits its session's new
 * state with its end.
 */
@Injectable()
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly ownership: Ownership,
  ) {}

  /** Creates the session unless it exists. */
  begin({ tenant, id }: SessionKey, { owner, parentId, now }: StartedSession): Statement {
    return this.database.insertIgnore('session', {
      tenant,
      id,
      owner,
      last_turn: 0,
      message_count: 0,
      created_at: now,
      updated_at: now,
      parent_id: parentId ?? null,
    });
  }

  /** Rejects the batch if another principal owns the session. A child of the session `parentId` gets this owner. */
  ownedBy({ tenant, id }: SessionKey, owner: string, parentId: string | null = null): Statement {
    const sql = 'UPDATE session SET owner = ? WHERE tenant = ? AND id = ? AND (owner = ? OR parent_id = ?)';
    return { sql, params: [owner, tenant, id, owner, parentId], rows: 1 };
  }

  /** Counts a turn after the turn `lastTurn`; rejected if that is no longer the last turn. */
  grow({ tenant, id }: SessionKey, lastTurn: number, messageCount: number, now: number): Statement {
    return {
      sql: `UPDATE session SET last_turn = last_turn + 1, message_count = message_count + ?, updated_at = ?
        WHERE tenant = ? AND id = ? AND last_turn = ?`,
      params: [messageCount, now, tenant, id, lastTurn],
      rows: 1,
    };
  }

  /**
   * Records the facts of the session's data after a turn.
   * @param facts all facts; `null` for a turn that has not read the earlier ones, whose sources then count as unknown
   */
  mark(
    { tenant, id }: SessionKey,
    turn: number,
    added: readonly DataFact[],
    facts: readonly DataFact[] | null,
  ): Statement {
    const sql = `UPDATE session SET tainted_turn = COALESCE(tainted_turn, ?), private_turn = COALESCE(private_turn, ?),
      data_facts = ? WHERE tenant = ? AND id = ?`;
    const marks = [isTainted(added) ? turn : null, isPrivate(added) ? turn : null];
    return { sql, params: [...marks, facts && JSON.stringify(facts), tenant, id] };
  }

  /** Creates a session, perhaps with turns; rejected if it exists. */
  create(
    { tenant, id }: SessionKey,
    { owner, turns = 0, clearedTurn = 0, messages = 0, ...more }: NewSession,
  ): Statement {
    const { metadata, taintedTurn = null, privateTurn = null, dataFacts = [], now } = more;
    return insert('session', {
      tenant,
      id,
      owner,
      last_turn: turns,
      cleared_turn: clearedTurn,
      message_count: messages,
      created_at: now,
      updated_at: now,
      metadata: sealMetadata({ tenant, id }, metadata, this.cipher),
      tainted_turn: taintedTurn,
      private_turn: privateTurn,
      data_facts: dataFacts.length > 0 ? JSON.stringify(dataFacts) : null,
    });
  }

  /** Commits the batch that creates a session, perhaps with turns. @throws AppError `SESSION_EXISTS` */
  async commitNew(id: string, statements: readonly Statement[]): Promise<void> {
    try {
      await this.database.commit(statements);
    } catch (error) {
      if (refusalOf(error) !== 'unique') throw error;
      throw new AppError(
        'SESSION_EXISTS',
        statements.length === 1
          ? `The session "${id}" exists already: use another id.`
          : `The session "${id}" exists already, or two of its turns have the same run: use another id, or correct the turns.`,
      );
    }
  }

  /** Replaces the metadata; rejected if the session does not exist. */
  setMetadata({ tenant, id }: SessionKey, metadata: SessionRecord['metadata']): Statement {
    const sql = 'UPDATE session SET metadata = ? WHERE tenant = ? AND id = ?';
    return { sql, params: [sealMetadata({ tenant, id }, metadata, this.cipher), tenant, id], rows: 1 };
  }

  /**
   * Resets the counts and the facts; turn numbers continue. Rejected after another turn, or while a run has not
   * ended.
   */
  clear({ tenant, id }: SessionKey, lastTurn: number, now: number): Statement {
    const free = sessionIsFree(tenant, id);
    return {
      sql: `UPDATE session SET message_count = 0, cleared_turn = last_turn, tainted_turn = NULL, private_turn = NULL, data_facts = NULL,
        updated_at = ?
        WHERE tenant = ? AND id = ? AND last_turn = ? AND ${free.sql}`,
      params: [now, tenant, id, lastTurn, ...free.params],
      rows: 1,
    };
  }

  /** Deletes the session; rejected as `clear`. @param before only without activity since, epoch ms */
  remove({ tenant, id }: SessionKey, lastTurn: number, before = Number.MAX_SAFE_INTEGER): Statement {
    const free = sessionIsFree(tenant, id);
    return {
      sql: `DELETE FROM session WHERE tenant = ? AND id = ? AND last_turn = ? AND updated_at < ? AND ${free.sql}`,
      params: [tenant, id, lastTurn, before, ...free.params],
      rows: 1,
    };
  }

  /** Up to `limit` sessions that the principal may see, newest first, after the last one of the previous page. */
  list(principal: Principal, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    return this.page(this.visible(principal), limit, after);
  }

  /** As `list`, of all owners. */
  listAll(tenant: string, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    return this.page({ sql: 'tenant = ?', params: [tenant] }, limit, after);
  }

  private async page(of: RowFilter, limit: number, after?: SessionPlace): Promise<SessionRecord[]> {
    const place = after ? 'AND created_at <= ? AND (created_at < ? OR id < ?)' : '';
    const params = after ? [after.createdAt, after.createdAt, after.id] : [];
    const rows = await this.database.query<SessionRow>(
      `SELECT * FROM session WHERE ${of.sql} ${place} ORDER BY created_at DESC, id DESC LIMIT ?`,
      [...of.params, ...params, limit],
    );
    return rows.map((row) => toListedSession(row, this.cipher));
  }

  /** Up to `limit` sessions without activity since a time, epoch ms; optionally of one tenant, or of one owner. */
  async idle(before: number, limit: number, of: { tenant?: string; owner?: string | undefined } = {}) {
    const filters = Object.entries(of).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.database.query<{ readonly tenant: string; readonly id: string }>(
      `SELECT tenant, id FROM session WHERE created_at < ? AND updated_at < ? ${filters.map(([name]) => `AND ${name} = ?`).join(' ')}
        ORDER BY created_at, tenant, id LIMIT ?`,
      [before, before, ...filters.map(([, value]) => value), limit],
    );
  }

  /** Sub-sessions, in which this session's agent talks with other agents. */
  async childrenOf({ tenant, id }: SessionKey): Promise<string[]> {
    const sql = 'SELECT id FROM session WHERE tenant = ? AND parent_id = ?';
    return (await this.database.query<{ id: string }>(sql, [tenant, id])).map((row) => row.id);
  }

  /** Subtracts removed messages; rejected if the session does not exist. */
  shrink({ tenant, id }: SessionKey, messageCount: number): Statement {
    const sql = 'UPDATE session SET message_count = message_count - ? WHERE tenant = ? AND id = ?';
    return { sql, params: [messageCount, tenant, id], rows: 1 };
  }

  /** Rejects the batch if the session does not exist, or has no turn `through` yet. */
  stillThere({ tenant, id }: SessionKey, through: number): Statement {
    return {
      sql: 'UPDATE session SET updated_at = updated_at WHERE tenant = ? AND id = ? AND last_turn >= ?',
      params: [tenant, id, through],
      rows: 1,
    };
  }

  /** Rejects the batch if the session does not exist, or a run of it has not ended. */
  stillFree({ tenant, id }: SessionKey): Statement {
    const free = sessionIsFree(tenant, id);
    return {
      sql: `UPDATE session SET updated_at = updated_at WHERE tenant = ? AND id = ? AND ${free.sql}`,
      params: [tenant, id, ...free.params],
      rows: 1,
    };
  }

  /** The number of the last turn; `null` if the session does not exist. Decrypts nothing. */
  async lastTurn({ tenant, id }: SessionKey): Promise<number | null> {
    const sql = 'SELECT last_turn FROM session WHERE tenant = ? AND id = ?';
    const [row] = await this.database.query<Pick<SessionRow, 'last_turn'>>(sql, [tenant, id]);
    return row?.last_turn ?? null;
  }

  async ownerOf({ tenant, id }: SessionKey): Promise<string | null> {
    const sql = 'SELECT owner FROM session WHERE tenant = ? AND id = ?';
    const [row] = await this.database.query<Pick<SessionRow, 'owner'>>(sql, [tenant, id]);
    return row?.owner ?? null;
  }

  /** The session with this key, of any owner: for a run that has joined it. */
  read({ tenant, id }: SessionKey): Promise<SessionRecord | null> {
    return this.one({ sql: 'tenant = ?', params: [tenant] }, id);
  }

  /** The session with this id if the principal may see it. */
  find(principal: Principal, id: string): Promise<SessionRecord | null> {
    return this.one(this.visible(principal), id);
  }

  /** The owner to whose sessions the principal is limited; `null` if it sees all. */
  limitOf(principal: Principal): string | null {
    return this.ownership.limitOf(principal);
  }

  private async one(of: RowFilter, id: string): Promise<SessionRecord | null> {
    const sql = `SELECT * FROM session WHERE ${of.sql} AND id = ?`;
    const [row] = await this.database.query<SessionRow>(sql, [...of.params, id]);
    return row ? toSession(row, this.cipher) : null;
  }

  private visible(principal: Principal): RowFilter {
    return this.ownership.filter(principal, 'owner');
  }
}
