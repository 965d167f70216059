import { messageOf } from '../../../common/index.js';
import type { StepCompanion } from '../../../run/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { ContextQueue } from '../context-queue.policy.js';
import type { ContextDraft } from '../context-draft.builder.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import type { ContextWrite } from '../stores/state-store.js';
import type { CountedChange, OutgoingChange, StateChangeStore } from '../stores/state-change.store.js';
import type { StateStore } from '../stores/state-store.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { StateManagerName } from '../stateful-options.types.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './state-backend.js';

/**
 * Backend outside of the journal's database. A change is committed to the journal's outbox with its step. It is applied
 * to the store afterwards: immediately, at the next access to its context, or by the next sync.
 */
export class ProjectedStateBackend extends StateBackend {
  readonly isVolatile = false;

  /**
   * @param changes outbox of pending changes
   * @param isEager whether to apply a change immediately after its step is recorded
   */
  constructor(
    name: StateManagerName,
    store: StateStore,
    queue: ContextQueue,
    private readonly changes: StateChangeStore,
    private readonly isEager: boolean,
  ) {
    super(name, store, queue);
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

  override async catchUp(contextId: string): Promise<void> {
    const waiting = (await this.changes.waiting(contextId)).filter(({ outgoing }) => outgoing.home === this.name);
    const removal = waiting.findLastIndex(({ outgoing }) => 'isRemoval' in outgoing);
    for (const [at, { id, outgoing }] of waiting.entries()) {
      // A removal makes earlier changes obsolete; they may even be inapplicable.
      if (at >= removal) await this.make(outgoing, contextId);
      await this.changes.done(id);
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
    this.logger.warn(
      `A change of tool state ${contextId} cannot be stored now, it is tried again: ${messageOf(error)}`,
    );
  }
}
