import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { Cipher } from '../../security/encryption/index.js';
import { summaryPlace } from '../turn-place.factory.js';
import type { SessionKey } from '../session.types.js';
import type { Summary } from './memory.types.js';

interface SummaryRow {
  readonly through: number;
  readonly summary: string;
  readonly tokens: number;
}

/** Summaries in the journal's database; each covers all turns up to its `through`. */
@Injectable()
export class SummaryStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** The longest summary that covers no turn after `through`. */
  async latest(key: SessionKey, through: number): Promise<Summary | null> {
    const [row] = await this.database.query<SummaryRow>(
      `SELECT through, summary, tokens FROM session_summary
        WHERE tenant = ? AND session_id = ? AND through <= ? ORDER BY through DESC LIMIT 1`,
      [key.tenant, key.id, through],
    );
    if (!row) return null;
    const text = JSON.parse(this.cipher.open(row.summary, summaryPlace(key, row.through))) as string;
    return { through: row.through, text, tokens: row.tokens };
  }

  /** An existing summary remains: a replay of its run creates the same one. */
  keep({ tenant, id }: SessionKey, { through, text, tokens }: Summary, now: number): Statement {
    return this.database.insertIgnore('session_summary', {
      tenant,
      session_id: id,
      through,
      summary: this.cipher.seal(JSON.stringify(text), summaryPlace({ tenant, id }, through)),
      tokens,
      created_at: now,
    });
  }

  remove({ tenant, id }: SessionKey): Statement {
    return { sql: 'DELETE FROM session_summary WHERE tenant = ? AND session_id = ?', params: [tenant, id] };
  }
}
