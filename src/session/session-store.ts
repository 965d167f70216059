import { Injectable } from '@nestjs/common';
import { Database, insert, type Statement } from '../persistence/index.js';
import type { SessionKey, SessionRecord } from './session.types.js';

interface SessionRow {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly last_turn: number;
  readonly message_count: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly metadata: string | null;
}

/**
 * What is known of sessions but their turns, in the journal's own database: what changes them are statements, so that a
 * run commits its session's new state with its end.
 */
@Injectable()
export class SessionStore {
  constructor(private readonly database: Database) {}

  /** Begins the session unless it is there. */
  begin(tenant: string, id: string, owner: string, now: number): Statement {
    return this.database.insertIgnore('session', {
      tenant,
      id,
      owner,
      last_turn: 0,
      message_count: 0,
      created_at: now,
      updated_at: now,
    });
  }

  /** Takes a turn in after the session's turn `lastTurn`; refused if that is no longer the last one. */
  grow({ tenant, id }: SessionKey, lastTurn: number, messageCount: number, now: number): Statement {
    return {
      sql: `UPDATE session SET last_turn = last_turn + 1, message_count = message_count + ?, updated_at = ?
        WHERE tenant = ? AND id = ? AND last_turn = ?`,
      params: [messageCount, now, tenant, id, lastTurn],
      rows: 1,
    };
  }

  /** Begins a session that has turns from the start; refused when it is there already. */
  create({ tenant, id }: SessionKey, owner: string, has: { turns: number; messages: number }, now: number): Statement {
    return insert('session', {
      tenant,
      id,
      owner,
      last_turn: has.turns,
      message_count: has.messages,
      created_at: now,
      updated_at: now,
    });
  }

  async find(tenant: string, id: string): Promise<SessionRecord | null> {
    const [row] = await this.database.query<SessionRow>('SELECT * FROM session WHERE tenant = ? AND id = ?', [
      tenant,
      id,
    ]);
    return row ? toSession(row) : null;
  }
}

function toSession(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    tenant: row.tenant,
    owner: row.owner,
    lastTurn: row.last_turn,
    messageCount: row.message_count,
    metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as SessionRecord['metadata']),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
