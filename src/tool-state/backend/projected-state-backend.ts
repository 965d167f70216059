import { messageOf } from '../../errors/index.js';
import { newId } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { type Database, Outbox, OutboxRelay } from '../../persistence/index.js';
import type { Row, Statement } from '../../persistence/statement/index.js';
import type { StepCompanion } from '../../run/context/index.js';
import type { Cipher } from '../../security/encryption/index.js';
import type { StateManagerName } from '../../tool/stateful/index.js';
import type { ContextDraft } from '../context-draft.js';
import { contextIdOf } from '../context-id.factory.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './state-backend.js';
import { changePlace } from './state-place.factory.js';
import type { ContextWrite, StateStore } from './state-store.js';

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

/**
 * Backend outside of the journal's database. A change is committed to the journal's outbox with its step. It is applied
 * to the store afterwards: immediately, at the next access to its context, or by the next sync.
 */
export class ProjectedStateBackend extends StateBackend {
  readonly isVolatile = false;
  override readonly hasOutbox = true;

  private readonly relay: OutboxRelay<StateOwner, PendingStateChange>;

  /** @param isEager whether to apply a change immediately after its step is recorded */
  constructor(
    name: StateManagerName,
    store: StateStore,
    private readonly changes: StateOutbox,
    private readonly isEager: boolean,
  ) {
    super(name, store);
    this.relay = new OutboxRelay(changes, (owner, pending) => this.applyPending(owner.context_id, pending));
  }

  companion(change: StateChange, policy: StatePolicy, { lastChange }: ContextDraft): StepCompanion {
    const contextId = contextIdOf(change.key);
    const outgoing = { home: this.name, change, policy, seq: lastChange + 1 };
    return {
      statements: () => [this.changes.add(change.key.tenant, contextId, outgoing)],
      reconsider: async () => undefined,
      committed: async () => {
        if (this.isEager) await this.carryOver(contextId);
      },
      alone: () => this.apply(change, policy, contextId),
    };
  }

  creating(write: ContextWrite): StatesCopy {
    const { tenant, id } = write.context;
    return {
      statements: [this.changes.add(tenant, id, { home: this.name, write })],
      ended: () => this.carryOver(id),
      undone: () => undefined,
    };
  }

  override purge(): Promise<void> {
    return this.store.purge();
  }

  protected removal(tenant: string, contextIds: readonly string[]): StatesEnd {
    const removal = { home: this.name, isRemoval: true } as const;
    return {
      statements: contextIds.map((id) => this.changes.add(tenant, id, removal)),
      ended: async () => {
        for (const id of contextIds) await this.carryOver(id);
      },
    };
  }

  override catchUp(contextId: string): Promise<void> {
    return this.relay.settle({ context_id: contextId });
  }

  private async applyPending(contextId: string, pending: readonly PendingStateChange[]): Promise<void> {
    const own = pending.filter(({ outgoing }) => outgoing.home === this.name);
    const removal = own.findLastIndex(({ outgoing }) => 'isRemoval' in outgoing);
    for (const [at, { id, outgoing }] of own.entries()) {
      // A removal makes earlier changes obsolete; they may even be inapplicable.
      if (at >= removal) await this.make(outgoing, contextId);
      await this.changes.done([id]);
    }
  }

  private async make(outgoing: OutgoingChange, contextId: string): Promise<void> {
    if ('isRemoval' in outgoing) await this.store.remove(contextId);
    else if ('write' in outgoing) await this.store.write(outgoing.write);
    else await this.makeOnce(outgoing, contextId);
  }

  /** Idempotent: skips a change that is already applied or older than the last applied one. */
  private async makeOnce({ change, policy, seq }: CountedChange, contextId: string): Promise<void> {
    await this.applyRecorded(change, policy, contextId, (draft, one) => {
      if (seq <= draft.lastChange) return;
      applyChange(draft, one);
      draft.carry(seq);
    });
  }

  private async carryOver(contextId: string): Promise<void> {
    await this.catchUp(contextId).catch((error: unknown) => this.warnLate(contextId, error));
  }

  private warnLate(contextId: string, error: unknown): void {
    this.logger.warn(`Failed to apply a change of tool state ${contextId}; retrying: ${messageOf(error)}`);
  }
}
