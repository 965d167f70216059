import { newId, parseExactJson } from '../../kernel/index.js';
import { Outbox, type Database, type Row, type Statement } from '../../persistence/index.js';
import type { Cipher } from '../../security/index.js';
import type { StateManagerName } from '../../tool/index.js';
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
  /** Name of the state manager; stored under this name. */
  readonly home: StateManagerName;
} & (
  | CountedChange
  /** Writes the whole context. */
  | { readonly write: ContextWrite }
  /** Deletes the context. */
  | { readonly isRemoval: true }
);

export type StateOwner = Readonly<Record<'context_id', string>>;

export interface PendingStateChange {
  readonly id: string;
  readonly outgoing: OutgoingChange;
}

/** Changes not yet applied to their stores, encrypted. */
export class StateOutbox extends Outbox<StateOwner, PendingStateChange> {
  constructor(
    database: Database,
    private readonly cipher: Cipher,
  ) {
    super(database, { name: 'tool_state_change', id: 'id', owner: ['context_id'], order: 'created_at, id' });
  }

  add(tenant: string, contextId: string, outgoing: OutgoingChange): Statement {
    const id = newId();
    const data = this.cipher.seal(JSON.stringify(outgoing), changePlace({ tenant, id: contextId }, id));
    return this.insert({ id, context_id: contextId, tenant, data });
  }

  protected read(row: Row): PendingStateChange {
    const { id, tenant, context_id, data } = row as Record<'id' | 'tenant' | 'context_id' | 'data', string>;
    const text = this.cipher.open(data, changePlace({ tenant, id: context_id }, id));
    return { id, outgoing: parseExactJson(text) as OutgoingChange };
  }
}
