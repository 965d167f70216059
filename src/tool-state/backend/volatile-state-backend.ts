import type { StepCompanion } from '../../run/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { ContextWrite } from './state-store.js';
import { StateBackend, type StatesCopy, type StatesEnd } from './state-backend.js';

/** Backend in memory: changes are applied after their step is durable. */
export class VolatileStateBackend extends StateBackend {
  readonly isVolatile = true;
  /** Contexts to create after the commit of their batch. */
  private readonly coming = new Map<string, ContextWrite>();

  companion(change: StateChange, policy: StatePolicy): StepCompanion {
    const contextId = contextIdOf(change.key);
    return {
      statements: () => [],
      reconsider: async () => undefined,
      committed: () => this.applyRecorded(change, policy, contextId),
      alone: () => this.apply(change, policy, contextId),
    };
  }

  override async catchUp(contextId: string): Promise<void> {
    const write = this.coming.get(contextId);
    if (write && this.coming.delete(contextId)) await this.store.write(write);
  }

  creating(write: ContextWrite): StatesCopy {
    const { id } = write.context;
    this.coming.set(id, write);
    return { statements: [], ended: () => this.catchUp(id), undone: () => void this.coming.delete(id) };
  }

  protected removal(_tenant: string, contextIds: readonly string[]): StatesEnd {
    return {
      statements: [],
      ended: async () => {
        for (const id of contextIds) await this.store.remove(id);
      },
    };
  }
}
