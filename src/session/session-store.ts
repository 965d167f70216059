import { Injectable } from '@nestjs/common';
import type { Message } from '../llm/index.js';
import { Database, insert, type Statement } from '../persistence/index.js';
import { Cipher, PLAIN_CIPHER } from '../security/index.js';
import { turnPlace } from './turn-place.factory.js';
import type { SessionRecord, StoredTurn, Turn, TurnStatus } from './session.types.js';

interface SessionRow {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly last_turn: number;
  readonly message_count: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface TurnRow {
  readonly turn: number;
  readonly run_id: string;
  readonly status: TurnStatus;
  readonly messages: string;
  readonly created_at: number;
}

const SELECT_TURNS = 'SELECT turn, run_id, status, messages, created_at FROM session_turn';

/** Sessions in the journal's own database: what changes them are statements, so that a run commits its turn with its end. */
@Injectable()
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher = PLAIN_CIPHER,
  ) {}

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

  /** Appends a turn after the session's turn `lastTurn`; refused if that is no longer the last one, or if the run's turn is there. */
  append(tenant: string, id: string, lastTurn: number, turn: Turn, now: number): Statement[] {
    return [
      insert('session_turn', {
        tenant,
        session_id: id,
        turn: lastTurn + 1,
        run_id: turn.runId,
        status: turn.status,
        messages: this.cipher.seal(JSON.stringify(turn.messages), turnPlace(tenant, id, lastTurn + 1)),
        created_at: now,
      }),
      {
        sql: `UPDATE session SET last_turn = last_turn + 1, message_count = message_count + ?, updated_at = ?
          WHERE tenant = ? AND id = ? AND last_turn = ?`,
        params: [turn.messages.length, now, tenant, id, lastTurn],
        rows: 1,
      },
    ];
  }

  /**
   * Begins a session with another one's turns up to the turn `through`; refused when it is there already.
   * @param from the other session and how many messages those turns have; `null` to begin without any
   */
  async branch(
    tenant: string,
    id: string,
    owner: string,
    from: { readonly id: string; readonly through: number; readonly messageCount: number } | null,
    now: number,
  ): Promise<Statement[]> {
    const session = insert('session', {
      tenant,
      id,
      owner,
      last_turn: from?.through ?? 0,
      message_count: from?.messageCount ?? 0,
      created_at: now,
      updated_at: now,
    });
    if (!from) return [session];
    if (this.cipher.head !== null) return [session, ...(await this.sealedCopy(tenant, from, id))];
    return [
      session,
      {
        sql: `INSERT INTO session_turn (tenant, session_id, turn, run_id, status, messages, created_at)
          SELECT tenant, ?, turn, run_id, status, messages, created_at FROM session_turn
          WHERE tenant = ? AND session_id = ? AND turn <= ?`,
        params: [id, tenant, from.id, from.through],
      },
    ];
  }

  async find(tenant: string, id: string): Promise<SessionRecord | null> {
    const [row] = await this.database.query<SessionRow>('SELECT * FROM session WHERE tenant = ? AND id = ?', [
      tenant,
      id,
    ]);
    return row ? toSession(row) : null;
  }

  /** Up to `limit` turns, the newest up to `through`, oldest first. */
  async lastTurns(tenant: string, id: string, through: number, limit: number): Promise<StoredTurn[]> {
    const rows = await this.database.query<TurnRow>(
      `${SELECT_TURNS} WHERE tenant = ? AND session_id = ? AND turn <= ? ORDER BY turn DESC LIMIT ?`,
      [tenant, id, through, limit],
    );
    return rows.toReversed().map((row) => this.toTurn(tenant, id, row));
  }

  /** Up to `limit` turns after the turn `after`, oldest first. */
  async turnsAfter(tenant: string, id: string, after: number, limit: number): Promise<StoredTurn[]> {
    const rows = await this.database.query<TurnRow>(
      `${SELECT_TURNS} WHERE tenant = ? AND session_id = ? AND turn > ? ORDER BY turn LIMIT ?`,
      [tenant, id, after, limit],
    );
    return rows.map((row) => this.toTurn(tenant, id, row));
  }

  /** A turn opens only in its own session, and is sealed anew for another; refused when one of them is gone. */
  private async sealedCopy(tenant: string, from: { id: string; through: number }, to: string): Promise<Statement[]> {
    const rows = await this.database.query<TurnRow>(
      `${SELECT_TURNS} WHERE tenant = ? AND session_id = ? AND turn <= ? ORDER BY turn`,
      [tenant, from.id, from.through],
    );
    const copies = rows.map(({ turn, messages, ...row }) => {
      const text = this.cipher.open(messages, turnPlace(tenant, from.id, turn));
      const sealed = this.cipher.seal(text, turnPlace(tenant, to, turn));
      return insert('session_turn', { tenant, session_id: to, turn, messages: sealed, ...row });
    });
    const stillThere = {
      sql: 'UPDATE session SET updated_at = updated_at WHERE tenant = ? AND id = ? AND last_turn >= ?',
      params: [tenant, from.id, from.through],
      rows: 1,
    };
    return [stillThere, ...copies];
  }

  private toTurn(tenant: string, id: string, row: TurnRow): StoredTurn {
    return {
      turn: row.turn,
      runId: row.run_id,
      status: row.status,
      messages: JSON.parse(this.cipher.open(row.messages, turnPlace(tenant, id, row.turn))) as Message[],
      createdAt: row.created_at,
    };
  }
}

function toSession(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    tenant: row.tenant,
    owner: row.owner,
    lastTurn: row.last_turn,
    messageCount: row.message_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
