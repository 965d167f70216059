import { Logger } from '@nestjs/common';
import { AppError } from '../../../common/index.js';
import type { StepCompanion } from '../../../run/index.js';
import type { Statement } from '../../../persistence/index.js';
import { ContextClosings } from '../context-closing.registry.js';
import { isLive, type ContextDraft } from '../context-draft.builder.js';
import type { ContextQueue } from '../context-queue.policy.js';
import { applyChange, toRefused, type StateChange } from '../state-change.mapper.js';
import type { StateManagerName } from '../stateful-options.types.js';
import { StoredStateManager } from '../stored-state-manager.js';
import { isDamage, isRefusedChange } from '../tool-state.error.js';
import type { ContextWrite, StateStore } from '../stores/state-store.js';
import type { StatePolicy } from '../tool-state.types.js';

const PAGE = 100;

/** What forgets states: in the batch of what they go with, and once that is durable. */
export interface StatesEnd {
  readonly statements: readonly Statement[];
  /** Never throws. */
  readonly ended: () => Promise<void>;
}

/** What makes states with a batch: of those that are beside it, `undone` forgets what a refused one leaves. */
export interface StatesCopy extends StatesEnd {
  readonly undone: () => void;
}

/** The port to how the changes that calls make come to where contexts are stored. */
export abstract class StateHome {
  /** Whether what is in it ends with the process, so that a run that goes on must bring its changes back. */
  abstract readonly isVolatile: boolean;
  protected readonly logger = new Logger('ToolState');
  private closings = new ContextClosings();

  /**
   * @param name of the manager, as it stands in contexts' information
   * @param queue one for the store
   */
  constructor(
    readonly name: StateManagerName,
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

  /** Has nothing left of what was forgotten, also in files, where states are kept beside the journal's database. */
  async purge(): Promise<void> {}

  /** Forgets contexts of a tenant with a batch, or after it; they need not be there. */
  forgetting(tenant: string, contextIds: readonly string[]): StatesEnd {
    const { statements, ended } = this.removal(tenant, contextIds);
    return {
      statements,
      ended: async () => {
        await ended();
        for (const id of contextIds) this.closings.closed(id);
      },
    };
  }

  /** Makes a context with a batch. */
  abstract creating(write: ContextWrite): StatesCopy;

  /** The ids of all that a tenant has, page by page. */
  async *contextsOf(tenant: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const ids = await this.store.list({ tenant, after, limit: PAGE });
      yield* ids;
      if (ids.length < PAGE) return;
      after = ids.at(-1)!;
    }
  }

  /** Forgets a context that has expired, unless it was used meanwhile. Gives whether it did. */
  async removeExpired(contextId: string): Promise<boolean> {
    const revision = await this.expiredRevision(contextId);
    if (revision === null) return false;
    const isRemoved = await this.store.remove(contextId, revision);
    if (isRemoved) this.closings.closed(contextId);
    return isRemoved;
  }

  /** `undefined` for one that cannot be read: nobody can have used it. `null` when it has not expired. */
  private async expiredRevision(contextId: string): Promise<number | undefined | null> {
    try {
      const stored = await this.store.load(contextId);
      return stored && !isLive(stored, Date.now()) ? stored.revision : null;
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  protected abstract removal(tenant: string, contextIds: readonly string[]): StatesEnd;

  /** Makes the change now. @param make how */
  protected async apply(
    change: StateChange,
    policy: StatePolicy,
    contextId: string,
    make: typeof applyChange = applyChange,
  ): Promise<void> {
    await this.manager(policy).edit(contextId, (draft) => make(draft, change), change);
  }

  /**
   * Makes a change whose step is recorded. When others have come in between so that it cannot be made any more, that the
   * call was is all that is kept of it, or not even that where they have taken its room: nobody can be told any more, and
   * the next change must not wait for it.
   */
  protected async applyRecorded(
    change: StateChange,
    policy: StatePolicy,
    contextId: string,
    make?: typeof applyChange,
  ): Promise<void> {
    try {
      await this.apply(change, policy, contextId, make);
    } catch (error) {
      const hasNoRoom = error instanceof AppError && error.code === 'TOOL_STATE_LIMIT';
      if (!hasNoRoom && !isRefusedChange(error)) throw error;
      this.logger.warn(`A change of tool state ${contextId} by ${change.id} is left out: ${error.message}`);
      if (!hasNoRoom) await this.apply(toRefused(change, error), policy, contextId, make);
    }
  }
}

export function joinEnds(ends: readonly StatesEnd[]): StatesEnd {
  return {
    statements: ends.flatMap(({ statements }) => statements),
    ended: async () => {
      for (const { ended } of ends) await ended();
    },
  };
}

export function joinCopies(copies: readonly StatesCopy[]): StatesCopy {
  return {
    ...joinEnds(copies),
    undone: () => {
      for (const { undone } of copies) undone();
    },
  };
}
