import { newId } from '../../../common/index.js';
import { insert, type Database, type Statement } from '../../../persistence/index.js';
import type { Cipher } from '../../../security/index.js';
import type { StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';

/** A change on its way to a store beside the journal's database. */
export interface OutgoingChange {
  /** Whose it is: the manager's name. */
  readonly home: string;
  readonly change: StateChange;
  readonly policy: StatePolicy;
}

interface ChangeRow {
  readonly id: string;
  readonly tenant: string;
  readonly data: string;
}

/** The table `tool_state_change`: what is still to be carried over. */
export class StateChangeStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  add(contextId: string, outgoing: OutgoingChange): Statement {
    const id = newId();
    const { tenant } = outgoing.change.key;
    return insert('tool_state_change', {
      id,
      context_id: contextId,
      tenant,
      data: this.cipher.seal(JSON.stringify(outgoing), placeOf(tenant, contextId, id)),
      created_at: outgoing.change.endedAt,
    });
  }

  /** In the order in which they were decided. */
  async waiting(contextId: string): Promise<(OutgoingChange & { readonly id: string })[]> {
    const rows = await this.database.query<ChangeRow>(
      'SELECT id, tenant, data FROM tool_state_change WHERE context_id = ? ORDER BY created_at, id',
      [contextId],
    );
    return rows.map(({ id, tenant, data }) => ({
      id,
      ...(JSON.parse(this.cipher.open(data, placeOf(tenant, contextId, id))) as OutgoingChange),
    }));
  }

  async done(id: string): Promise<void> {
    await this.database.commit([{ sql: 'DELETE FROM tool_state_change WHERE id = ?', params: [id] }]);
  }

  /** For batches: what waits for a context is not done any more. */
  drop(contextId: string): Statement {
    return { sql: 'DELETE FROM tool_state_change WHERE context_id = ?', params: [contextId] };
  }

  /** Contexts for which something has waited since before a time, the longest first. @param before epoch ms */
  async late(before: number, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ context_id: string }>(
      `SELECT context_id, MIN(created_at) AS since FROM tool_state_change WHERE created_at < ?
        GROUP BY context_id ORDER BY since LIMIT ?`,
      [before, limit],
    );
    return rows.map(({ context_id }) => context_id);
  }
}

function placeOf(tenant: string, owner: string, row: string) {
  return { tenant, column: 'tool_state_change.data', owner, row };
}
