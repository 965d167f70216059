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
 * What is still to be done in the archive; it is in the journal from the moment it is decided. The database numbers the
 * changes, and as their batches hold their session's row, a session's changes are numbered as they are committed:
 * who sees one of them sees all before it.
 */
@Injectable()
export class TurnChangeStore {
  constructor(private readonly database: Database) {}

  /** Comes in its batch after what holds the session's row. */
  add({ tenant, id }: SessionKey, change: TurnChange): Statement {
    return insert('turn_change', {
      tenant,
      session_id: id,
      change_data: JSON.stringify(change),
      created_at: Date.now(),
    });
  }

  /** In the order in which they were decided. */
  async waiting({ tenant, id }: SessionKey): Promise<WaitingChange[]> {
    const rows = await this.database.query<ChangeRow>(
      'SELECT seq, change_data FROM turn_change WHERE tenant = ? AND session_id = ? ORDER BY seq',
      [tenant, id],
    );
    return rows.map((row) => ({ seq: row.seq, change: parseExactJson(row.change_data) as TurnChange }));
  }

  /** Says that all up to one are done. */
  async done({ tenant, id }: SessionKey, through: number): Promise<void> {
    const sql = 'DELETE FROM turn_change WHERE tenant = ? AND session_id = ? AND seq <= ?';
    await this.database.commit([{ sql, params: [tenant, id, through] }]);
  }

  /** Sessions for which something has waited since before a time, the longest first. */
  async late(before: number, limit: number): Promise<SessionKey[]> {
    const rows = await this.database.query<{ tenant: string; session_id: string }>(
      `SELECT tenant, session_id, MIN(created_at) AS since FROM turn_change WHERE created_at < ?
        GROUP BY tenant, session_id ORDER BY since LIMIT ?`,
      [before, limit],
    );
    return rows.map(({ tenant, session_id }) => ({ tenant, id: session_id }));
  }
}
