import type { StepCompanion } from '../../../run/index.js';
import type { Statement } from '../../../persistence/index.js';
import { ContextClosings } from '../context-closing.registry.js';
import type { ContextDraft } from '../context-draft.builder.js';
import type { ContextQueue } from '../context-queue.policy.js';
import { applyChange, type StateChange } from '../state-change.mapper.js';
import { StoredStateManager } from '../stored-state-manager.js';
import type { StateStore } from '../stores/state-store.js';
import type { StatePolicy } from '../tool-state.types.js';

/** The port to how the changes that calls make come to where contexts are stored. */
export abstract class StateHome {
  /** Whether what is in it ends with the process, so that a run that goes on must bring its changes back. */
  abstract readonly isVolatile: boolean;
  private closings = new ContextClosings();

  /**
   * @param name of the manager, as it stands in contexts' information
   * @param queue one for the store
   */
  constructor(
    readonly name: string,
    readonly store: StateStore,
    private readonly queue: ContextQueue,
  ) {}

  /** Has its managers tell of contexts that are gone. */
  telling(closings: ContextClosings): this {
    this.closings = closings;
    return this;
  }

  /** A manager over its store. */
  manager(policy: StatePolicy): StoredStateManager {
    return new StoredStateManager(this.name, this.store, policy, this.queue, this.closings);
  }

  /** What goes with the step of the call. @param draft the context with the change in it */
  abstract companion(change: StateChange, policy: StatePolicy, draft: ContextDraft): StepCompanion;

  /** Carries over what the journal still holds of a context's changes. */
  async catchUp(_contextId: string): Promise<void> {}

  /** For the batch of a run's end: forgets the contexts of a session that go with the run. */
  ending(_tenant: string, _session: string): readonly Statement[] {
    return [];
  }

  /** After a run's end: forgets them where that was in no batch. */
  async endRun(tenant: string, session: string): Promise<void> {
    for (const id of await this.store.list({ tenant, session })) {
      await this.catchUp(id);
      if ((await this.store.load(id))?.isOfRun) await this.store.remove(id);
    }
  }

  /** Makes the change now; once, however often. */
  protected async apply(change: StateChange, policy: StatePolicy, contextId: string): Promise<void> {
    await this.manager(policy).edit(contextId, (draft) => applyChange(draft, change), change);
  }
}
