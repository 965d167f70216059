import type { StepCompanion } from '../../../run/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { StateChange } from '../state-change.mapper.js';
import type { StatePolicy } from '../tool-state.types.js';
import { StateHome, type StatesEnd } from './state-home.js';

/** In this process's memory: changes are made when their step is durable. */
export class VolatileStateHome extends StateHome {
  readonly isVolatile = true;

  companion(change: StateChange, policy: StatePolicy): StepCompanion {
    const apply = () => this.apply(change, policy, contextIdOf(change.key));
    return { statements: () => [], reconsider: async () => undefined, committed: apply, alone: apply };
  }

  forgetting(_tenant: string, contextIds: readonly string[]): StatesEnd {
    return {
      statements: [],
      ended: async () => {
        for (const id of contextIds) await this.store.remove(id);
      },
    };
  }
}
