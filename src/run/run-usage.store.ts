import type { JournaledUsage } from '../llm/index.js';
import { Database } from '../persistence/index.js';
import { Cipher, PLAIN_CIPHER } from '../security/index.js';
import { eventPlace } from './row-place.factory.js';
import type { RunUsage } from './run-event.types.js';

const PAGE = 500;

interface UsageRow {
  readonly run_id: string;
  readonly n: number;
  readonly tenant: string;
  readonly data: string;
  readonly created_at: number;
  readonly session_id: string | null;
}

/** What the journal tells of the use of models: the truth that budgets can be counted anew from. */
export class RunUsageStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher = PLAIN_CIPHER,
  ) {}

  /** Every call that is journaled, page by page, in the order of the runs. */
  async *usages(): AsyncGenerator<JournaledUsage, void> {
    let [runId, n] = ['', 0];
    for (;;) {
      const rows = await this.database.query<UsageRow>(
        `SELECT e.run_id, e.n, e.tenant, e.data, e.created_at, run.session_id FROM run_event e
          JOIN run ON run.id = e.run_id
          WHERE e.type = 'usage' AND (e.run_id > ? OR (e.run_id = ? AND e.n > ?)) ORDER BY e.run_id, e.n LIMIT ?`,
        [runId, runId, n, PAGE],
      );
      for (const row of rows) yield this.toUsage(row);
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      [runId, n] = [last.run_id, last.n];
    }
  }

  private toUsage(row: UsageRow): JournaledUsage {
    const { run_id: runId, n, tenant, session_id: sessionId, created_at: at } = row;
    const usage = JSON.parse(this.cipher.open(row.data, eventPlace(tenant, runId, n))) as RunUsage;
    const account = { tenant, runId, sessionId, step: `usage:${n}` };
    return { account, at, tokens: usage.total_tokens, cost: usage.cost ?? 0 };
  }
}
