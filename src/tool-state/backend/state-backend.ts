import { AppError, Log } from '../../errors/index.js';
import type { StepCompanion } from '../../run/context/index.js';
import { KeyedQueue } from '../../persistence/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import { ContextClosings } from '../context-closings.js';
import { isLive, type ContextDraft } from '../context-draft.js';
import { applyChange, toRefused, type StateChange } from '../state-change.mapper.js';
import type { StateManagerName } from '../../tool/stateful/index.js';
import { StoredStateManager } from '../stored-state-manager.js';
import { isDamage, isRefusedChange } from '../tool-state.error.js';
import type { ContextWrite, StateStore } from './state-store.js';
import type { StatePolicy } from '../tool-state.types.js';

const PAGE = 100;

/** Deletion of states: statements for a batch, and an action after its commit. */
export interface StatesEnd {
  readonly statements: readonly Statement[];
  /** Never throws. */
  readonly ended: () => Promise<void>;
}

/** Creation of states with a batch; `undone` cleans up after a rejected batch. */
export interface StatesCopy extends StatesEnd {
  readonly undone: () => void;
}

/** Port to a backend: how the state changes of calls reach their store. */
export abstract class StateBackend {
  /** Whether its data end with the process, so that a resumed run must replay its changes. */
  abstract readonly isVolatile: boolean;
  /** Whether its changes pass through the journal's outbox. */
  readonly hasOutbox: boolean = false;
  protected readonly logger = new Log('ToolState');
  private closings = new ContextClosings();
  /** Writes of the store, by context. */
  private readonly queue = new KeyedQueue();

  /** @param name manager name, shown in contexts' metadata */
  constructor(
    readonly name: StateManagerName,
    readonly store: StateStore,
  ) {}

  /** Makes its managers report closed contexts. */
  notifying(closings: ContextClosings): this {
    this.closings = closings;
    return this;
  }

  /** Creates a manager for the store. */
  manager(policy: StatePolicy): StoredStateManager {
    return new StoredStateManager(this.name, this.store, policy, this.queue, this.closings);
  }

  /** The part of a change that belongs to the step of the call. @param draft the changed context */
  abstract companion(change: StateChange, policy: StatePolicy, draft: ContextDraft): StepCompanion;

  /** Applies pending changes of a context from the journal's outbox. */
  async catchUp(_contextId: string): Promise<void> {}

  /** Removes deleted data from files, for stores outside of the journal's database. */
  async purge(): Promise<void> {}

  /** Deletes contexts of a tenant with a batch, or after it; absent contexts are ignored. */
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

  /** Creates a context with a batch. */
  abstract creating(write: ContextWrite): StatesCopy;

  /** Ids of all contexts of a tenant, read page by page. */
  async *contextsOf(tenant: string): AsyncGenerator<string> {
    for (let after = ''; ;) {
      const ids = await this.store.list({ tenant, after, limit: PAGE });
      yield* ids;
      if (ids.length < PAGE) return;
      after = ids.at(-1)!;
    }
  }

  /** Deletes an expired context, unless it was used meanwhile. Returns whether it was deleted. */
  async removeExpired(contextId: string): Promise<boolean> {
    const revision = await this.expiredRevision(contextId);
    if (revision === null) return false;
    const isRemoved = await this.store.remove(contextId, revision);
    if (isRemoved) this.closings.closed(contextId);
    return isRemoved;
  }

  /** `undefined` for an unreadable context, which no call can have used. `null` for a live or absent one. */
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

  /** Applies a change immediately. @param make function that applies it to the draft */
  protected async apply(
    change: StateChange,
    policy: StatePolicy,
    contextId: string,
    make: typeof applyChange = applyChange,
  ): Promise<void> {
    await this.manager(policy).edit(contextId, (draft) => make(draft, change), change);
  }

  /**
   * Applies the change of a recorded step. If other changes make it impossible, only the failed call is recorded; if
   * the session has no room, nothing is. The call has already ended, and later changes must not be blocked.
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
      this.logger.warn(`Dropped a change of tool state ${contextId} by ${change.id}: ${error.message}`);
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
