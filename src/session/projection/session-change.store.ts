import { Injectable } from '@nestjs/common';
import { newId } from '../../common/index.js';
import { Database, insert, type Statement } from '../../persistence/index.js';
import type { SessionKey } from '../session.types.js';
import type { TurnChange } from './turn-archive.js';

interface ChangeRow {
  readonly id: string;
  readonly change_data: string;
}

export interface WaitingChange {
  readonly id: string;
  readonly change: TurnChange;
}

/** What is still to be done in the archive; it is in the journal from the moment it is decided. */
@Injectable()
export class SessionChangeStore {
  /** Tells changes of one millisecond apart. */
  private count = 0;

  constructor(private readonly database: Database) {}

  add({ tenant, id }: SessionKey, change: TurnChange): Statement {
    return insert('session_change', {
      tenant,
      session_id: id,
      id: `${String(this.count++).padStart(12, '0')}-${newId()}`,
      change_data: JSON.stringify(change),
      created_at: Date.now(),
    });
  }

  /** In the order in which they were decided. */
  async waiting({ tenant, id }: SessionKey): Promise<WaitingChange[]> {
    const rows = await this.database.query<ChangeRow>(
      'SELECT id, change_data FROM session_change WHERE tenant = ? AND session_id = ? ORDER BY created_at, id',
      [tenant, id],
    );
    return rows.map((row) => ({ id: row.id, change: JSON.parse(row.change_data) as TurnChange }));
  }

  /** Says that these are done. */
  async done({ tenant, id }: SessionKey, changes: readonly string[]): Promise<void> {
    const sql = 'DELETE FROM session_change WHERE tenant = ? AND session_id = ? AND id = ?';
    await this.database.commit(changes.map((change) => ({ sql, params: [tenant, id, change] })));
  }

  /** Sessions for which something has waited since before a time, the longest first. */
  async late(before: number, limit: number): Promise<SessionKey[]> {
    const rows = await this.database.query<{ tenant: string; session_id: string }>(
      `SELECT tenant, session_id, MIN(created_at) AS since FROM session_change WHERE created_at < ?
        GROUP BY tenant, session_id ORDER BY since LIMIT ?`,
      [before, limit],
    );
    return rows.map(({ tenant, session_id }) => ({ tenant, id: session_id }));
  }
}
