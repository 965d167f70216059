import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../persistence/index.js';
import type { SessionKey } from '../session.types.js';
import type { Summary } from './memory.types.js';

interface SummaryRow {
  readonly through: number;
  readonly summary: string;
  readonly tokens: number;
}

/** Summaries in the journal's database; each tells of all turns up to its own. */
@Injectable()
export class SummaryStore {
  constructor(private readonly database: Database) {}

  /** The longest that tells of no turn after `through`. */
  async latest({ tenant, id }: SessionKey, through: number): Promise<Summary | null> {
    const [row] = await this.database.query<SummaryRow>(
      `SELECT through, summary, tokens FROM session_summary
        WHERE tenant = ? AND session_id = ? AND through <= ? ORDER BY through DESC LIMIT 1`,
      [tenant, id, through],
    );
    return row ? { through: row.through, text: row.summary, tokens: row.tokens } : null;
  }

  /** One that is there already stays: a replay of its run has made the same. */
  keep({ tenant, id }: SessionKey, { through, text, tokens }: Summary, now: number): Statement {
    return this.database.insertIgnore('session_summary', {
      tenant,
      session_id: id,
      through,
      summary: text,
      tokens,
      created_at: now,
    });
  }

  remove({ tenant, id }: SessionKey): Statement {
    return { sql: 'DELETE FROM session_summary WHERE tenant = ? AND session_id = ?', params: [tenant, id] };
  }
}
