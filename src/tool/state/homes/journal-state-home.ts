import type { Statement } from '../../../persistence/index.js';
import type { StepCompanion } from '../../../run/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { ContextQueue } from '../context-queue.policy.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import type { DatabaseStateStore } from '../stores/database-state-store.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { ContextDraft } from '../context-draft.builder.js';
import { StateHome } from './state-home.js';

/** In the journal's own database: a change is in the batch that records its step. */
export class JournalStateHome extends StateHome {
  readonly isVolatile = false;

  constructor(
    name: string,
    override readonly store: DatabaseStateStore,
    queue: ContextQueue,
  ) {
    super(name, store, queue);
  }

  companion(change: StateChange, policy: StatePolicy, draft: ContextDraft): StepCompanion {
    const contextId = contextIdOf(change.key);
    let write = draft.toWrite();
    return {
      statements: () => this.store.statements(write),
      reconsider: async () => {
        const again = await this.manager(policy).open(contextId, change);
        applyChange(again, change);
        write = again.toWrite();
      },
      committed: async () => undefined,
      alone: () => this.apply(change, policy, contextId),
    };
  }

  /** It was in the batch. */
  override async endRun(): Promise<void> {}

  override ending(tenant: string, session: string): readonly Statement[] {
    return this.store.statementsToRemoveRun(tenant, session);
  }
}
