import { newId, parseExactJson } from '../../../common/index.js';
import { insert, type Database, type Statement } from '../../../persistence/index.js';
import type { Cipher } from '../../../security/index.js';
import type { StateManagerName } from '../stateful-options.types.js';
import type { StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { ContextWrite } from './state-store.js';
import { changePlace } from './state-place.factory.js';

/** A change with its sequence number in its context: applied once, and never after a later one. */
export interface CountedChange {
  readonly change: StateChange;
  readonly policy: StatePolicy;
  readonly seq: number;
}

/** A pending change to a store outside of the journal's database. */
export type OutgoingChange = {
  /** Name of the state manager. */
  readonly home: StateManagerName;
} & (
  | CountedChange
  /** Writes the whole context. */
  | { readonly write: ContextWrite }
  /** Deletes the context. */
  | { readonly isRemoval: true }
);

interface ChangeRow {
  readonly id: string;
  readonly tenant: string;
  readonly data: string;
}

/** Outbox (table `tool_state_change`): changes not yet applied to their stores. */
export class StateChangeStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  add(tenant: string, contextId: string, outgoing: OutgoingChange): Statement {
    const id = newId();
    return insert('tool_state_change', {
      id,
      context_id: contextId,
      tenant,
      data: this.cipher.seal(JSON.stringify(outgoing), changePlace({ tenant, id: contextId }, id)),
      created_at: Date.now(),
    });
  }

  /** Pending changes in commit order. */
  async waiting(contextId: string): Promise<{ readonly id: string; readonly outgoing: OutgoingChange }[]> {
    const rows = await this.database.query<ChangeRow>(
      'SELECT id, tenant, data FROM tool_state_change WHERE context_id = ? ORDER BY created_at, id',
      [contextId],
    );
    return rows.map((row) => ({ id: row.id, outgoing: this.open(row, contextId) }));
  }

  async done(id: string): Promise<void> {
    await this.database.commit([{ sql: 'DELETE FROM tool_state_change WHERE id = ?', params: [id] }]);
  }

  /**
   * Contexts with pending changes older than a time, oldest first.
   * @param before epoch ms
   * @param tenant default: all tenants
   */
  async late(
    before: number,
    limit: number,
    tenant?: string,
  ): Promise<{ readonly contextId: string; readonly home: StateManagerName }[]> {
    const whose = tenant === undefined ? { sql: '', params: [] } : { sql: ' AND tenant = ?', params: [tenant] };
    const rows = await this.database.query<Omit<ChangeRow, 'id'> & { context_id: string; first: string }>(
      `SELECT tool_state_change.context_id, id AS first, tenant, data FROM tool_state_change JOIN
        (SELECT context_id, MIN(id) AS oldest FROM tool_state_change WHERE created_at <= ?${whose.sql} GROUP BY context_id) waiting
        ON waiting.oldest = tool_state_change.id ORDER BY created_at LIMIT ?`,
      [before, ...whose.params, limit],
    );
    return rows.map(({ context_id, first, ...row }) => ({
      contextId: context_id,
      home: this.open({ id: first, ...row }, context_id).home,
    }));
  }

  private open({ id, tenant, data }: ChangeRow, contextId: string): OutgoingChange {
    return parseExactJson(this.cipher.open(data, changePlace({ tenant, id: contextId }, id))) as OutgoingChange;
  }
}
