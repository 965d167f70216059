import type { StepCompanion } from '../../run/index.js';
import { contextIdOf } from '../context-id.factory.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import type { DatabaseStateStore } from './database-state-store.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { ContextDraft } from '../context-draft.js';
import type { StateManagerName } from '../../tool/index.js';
import type { ContextWrite } from './state-store.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './state-backend.js';

/** Backend in the journal's database: the batch that records a step includes its change. */
export class JournalStateBackend extends StateBackend {
  readonly isVolatile = false;

  constructor(
    name: StateManagerName,
    override readonly store: DatabaseStateStore,
  ) {
    super(name, store);
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

  creating(write: ContextWrite): StatesCopy {
    return { statements: this.store.statements(write), ended: async () => undefined, undone: () => undefined };
  }

  protected removal(_tenant: string, contextIds: readonly string[]): StatesEnd {
    return { statements: contextIds.flatMap((id) => this.store.statementsToRemove(id)), ended: async () => undefined };
  }
}
