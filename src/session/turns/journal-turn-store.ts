import { turnPlace } from '../turn-place.factory.js';
import { Injectable } from '@nestjs/common';
import { Database, inLists } from '../../persistence/index.js';
import { insert, type Statement } from '../../persistence/statement/index.js';
import { Cipher } from '../../security/encryption/index.js';
import type { SessionKey, SessionMessage, StoredTurn, TurnStatus } from '../session.types.js';
import { furtherTurns, selectAfter, selectTurns, type TurnSelect } from './turn-query.factory.js';
import { type TurnQuery, TurnStore } from './turn-store.js';

interface TurnRow {
  readonly turn: number;
  readonly run_id: string;
  readonly status: TurnStatus;
  readonly messages: string;
  readonly tokens: number;
  readonly plain_tokens: number;
  readonly mark: number | null;
  readonly created_at: number;
  readonly is_newest: number;
}

/** Turns in the journal's own database: a run commits its turn with its end. */
@Injectable()
export class JournalTurnStore extends TurnStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {
    super();
  }

  append({ tenant, id }: SessionKey, turn: StoredTurn): Statement[] {
    return [
      insert('session_turn', {
        tenant,
        session_id: id,
        turn: turn.turn,
        run_id: turn.runId,
        status: turn.status,
        messages: this.cipher.seal(JSON.stringify(turn.messages), turnPlace({ tenant, id }, turn.turn)),
        created_at: turn.createdAt,
        message_count: turn.messages.length,
        tokens: turn.tokens,
        plain_tokens: turn.plainTokens,
        mark: turn.mark,
      }),
    ];
  }

  async copy(from: SessionKey, to: SessionKey, through: number): Promise<Statement[]> {
    if (this.cipher.head !== null) return this.sealedCopy(from, to, through);
    const columns = 'turn, run_id, status, messages, created_at, message_count, tokens, plain_tokens, mark';
    return [
      {
        sql: `INSERT INTO session_turn (tenant, session_id, ${columns})
          SELECT tenant, ?, ${columns} FROM session_turn WHERE tenant = ? AND session_id = ? AND turn <= ?`,
        params: [to.id, from.tenant, from.id, through],
      },
    ];
  }

  /**
   * Copies encrypted turns to another session. Their encryption is bound to the session, so each turn is encrypted again.
   * The statements fail if a turn is removed meanwhile.
   */
  private async sealedCopy(from: SessionKey, to: SessionKey, through: number): Promise<Statement[]> {
    const turns = await this.read(from, { through, newest: through });
    // The number of turns must equal the number read: none was cleared meanwhile.
    const uncleared = {
      sql: `UPDATE session SET updated_at = updated_at WHERE tenant = ? AND id = ? AND ? =
        (SELECT COUNT(*) FROM session_turn WHERE tenant = ? AND session_id = ? AND turn <= ?)`,
      params: [from.tenant, from.id, turns.length, from.tenant, from.id, through],
      rows: 1,
    };
    return [uncleared, ...turns.flatMap((turn) => this.append(to, turn))];
  }

  remove({ tenant, id }: SessionKey, through: number): Statement[] {
    return [
      {
        sql: 'DELETE FROM session_turn WHERE tenant = ? AND session_id = ? AND turn <= ?',
        params: [tenant, id, through],
      },
    ];
  }

  drop({ tenant, id }: SessionKey, turns: readonly number[]): Statement[] {
    return inLists(turns).map(({ marks, params }) => ({
      sql: `DELETE FROM session_turn WHERE tenant = ? AND session_id = ? AND turn IN (${marks})`,
      params: [tenant, id, ...params],
    }));
  }

  async sessionsOf(tenant: string, runIds: readonly string[]): Promise<string[]> {
    const found = new Set<string>();
    for (const { marks, params } of inLists(runIds)) {
      const sql = `SELECT DISTINCT session_id AS id FROM session_turn WHERE run_id IN (${marks}) AND tenant = ?`;
      for (const { id } of await this.database.query<{ id: string }>(sql, [...params, tenant])) found.add(id);
    }
    return [...found];
  }

  mark({ tenant, id }: SessionKey, turn: number, mark: number | null): Statement[] {
    return [
      {
        sql: 'UPDATE session_turn SET mark = ? WHERE tenant = ? AND session_id = ? AND turn = ?',
        params: [mark, tenant, id, turn],
      },
    ];
  }

  refer({ tenant, id }: SessionKey, turn: number, by: number): Statement[] {
    return [
      {
        sql: `UPDATE session_turn SET mark = ?
          WHERE tenant = ? AND session_id = ? AND turn = ? AND (mark IS NULL OR mark < ?)`,
        params: [by, tenant, id, turn, by],
      },
    ];
  }

  async read(key: SessionKey, query: TurnQuery): Promise<StoredTurn[]> {
    const turns = new Map<number, StoredTurn>();
    for (let rest: TurnQuery | null = query; rest;) {
      const select = selectTurns(key, rest);
      if (select.sql === '') break;
      const read = await this.select(key, select);
      for (const { turn } of read) turns.set(turn.turn, turn);
      const newest = read.flatMap(({ turn, isNewest }) => (isNewest ? [turn] : []));
      rest = furtherTurns(rest, newest);
    }
    return [...turns.values()].toSorted((a, b) => a.turn - b.turn);
  }

  async after(key: SessionKey, after: number, limit: number): Promise<StoredTurn[]> {
    const read = await this.select(key, selectAfter(key, after, limit));
    return read.map(({ turn }) => turn);
  }

  private async select(key: SessionKey, { sql, params }: TurnSelect) {
    const rows = await this.database.query<TurnRow>(sql, params);
    return rows.map((row) => ({
      turn: toTurn(row, this.cipher.openJson(row.messages, turnPlace(key, row.turn))),
      isNewest: row.is_newest === 1,
    }));
  }
}

function toTurn(row: TurnRow, messages: unknown): StoredTurn {
  return {
    turn: row.turn,
    runId: row.run_id,
    status: row.status,
    messages: messages as SessionMessage[],
    tokens: row.tokens,
    plainTokens: row.plain_tokens,
    mark: row.mark,
    createdAt: row.created_at,
  };
}
