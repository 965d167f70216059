import { parseExactJson } from '../../common/index.js';
import { Injectable } from '@nestjs/common';
import { Database, insert, type Statement } from '../../persistence/index.js';
import type { SessionKey } from '../session.types.js';
import type { TurnChange } from './turn-archive.js';

interface ChangeRow {
  readonly seq: number;
  readonly change_data: string;
}

export interface WaitingChange {
  readonly seq: number;
  readonly change: TurnChange;
}

/**
 * Changes that the archive has yet to apply; they are in the journal from the moment of the decision. The database
 * numbers them. Their batches lock the session's row, so a session's changes are numbered in commit order: a reader of
 * one change sees all earlier ones.
 */
@Injectable()
export class TurnChangeStore {
  constructor(private readonly database: Database) {}

  /** In its batch, it must follow the statement that holds the session's row. */
  add({ tenant, id }: SessionKey, change: TurnChange): Statement {
    return insert('turn_change', {
      tenant,
      session_id: id,
      change_data: JSON.stringify(change),
      created_at: Date.now(),
    });
  }

  /** The pending changes, in commit order. */
  async waiting({ tenant, id }: SessionKey): Promise<WaitingChange[]> {
    const rows = await this.database.query<ChangeRow>(
      'SELECT seq, change_data FROM turn_change WHERE tenant = ? AND session_id = ? ORDER BY seq',
      [tenant, id],
    );
    return rows.map((row) => ({ seq: row.seq, change: parseExactJson(row.change_data) as TurnChange }));
  }

  /** Deletes the changes up to a number, once they are applied. */
  async done({ tenant, id }: SessionKey, through: number): Promise<void> {
    const sql = 'DELETE FROM turn_change WHERE tenant = ? AND session_id = ? AND seq <= ?';
    await this.database.commit([{ sql, params: [tenant, id, through] }]);
  }

  /** Sessions with changes pending since before a time, the oldest first. */
  async late(before: number, limit: number): Promise<SessionKey[]> {
    const rows = await this.database.query<{ tenant: string; session_id: string }>(
      `SELECT tenant, session_id, MIN(created_at) AS since FROM turn_change WHERE created_at < ?
        GROUP BY tenant, session_id ORDER BY since LIMIT ?`,
      [before, limit],
    );
    return rows.map(({ tenant, session_id }) => ({ tenant, id: session_id }));
  }
}
