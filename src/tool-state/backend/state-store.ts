import type { ContextFilter, ContextKey, StateHistoryEntry, StateType } from '../tool-state.types.js';

/** A stored state; its data are JSON text. */
export interface StoredState {
  readonly json: string;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
}

export type StoredStates = Readonly<Partial<Record<StateType, StoredState>>>;

export interface StoredContext extends ContextKey {
  readonly id: string;
  /** Starts at 1; increases by 1 with each write. */
  readonly revision: number;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number | null;
  /** Whether the context is run-scoped: deleted at the end of the run that created it. */
  readonly isOfRun: boolean;
  /** Number of the last history entry; 0 without entries. */
  readonly lastHistory: number;
  /** Number of the last applied outbox change, as text; `null` before the first. */
  readonly lastChange: string | null;
  readonly states: StoredStates;
}

export interface StoredVersion {
  readonly version: number;
  readonly json: string;
  readonly at: number;
  readonly by: string | null;
}

/** An atomic change of one context. */
export interface ContextWrite {
  /** The new context. Its revision is the previous one plus 1; 1 for a new context. */
  readonly context: StoredContext;
  /** Types of the changed states; a type without a state in the context is deleted. */
  readonly changed: readonly StateType[];
  /** Business state to store as a version. */
  readonly version?: StoredVersion | undefined;
  /** Minimum version to retain; 0 retains all. */
  readonly oldestVersion: number;
  readonly history: readonly StateHistoryEntry[];
  /** Minimum history number to retain; 0 retains all. */
  readonly oldestHistory: number;
}

/** Port to a store of contexts, independent of policies and of the content of states. */
export abstract class StateStore {
  abstract load(id: string): Promise<StoredContext | null>;

  /** Key of a context, available also if its data are unreadable. */
  abstract keyOf(id: string): Promise<ContextKey | null>;

  /** @returns false, without a change, if the stored revision is not the expected one */
  abstract write(write: ContextWrite): Promise<boolean>;

  /** Newest first. */
  abstract versions(id: string): Promise<StoredVersion[]>;

  /** Newest first. */
  abstract history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]>;

  /**
   * @param revision condition: protects a context that was recreated after it was found expired
   * @returns whether the context existed, with that revision
   */
  abstract remove(id: string, revision?: number): Promise<boolean>;

  /** Sorted ids of unexpired contexts. */
  abstract list(filter: ContextFilter): Promise<string[]>;

  /** Ids of expired contexts, up to `limit`. @param now epoch ms */
  abstract expired(now: number, limit: number): Promise<string[]>;

  /** Tenants with contexts. */
  abstract tenants(): Promise<string[]>;

  /** Removes deleted data from the files, as `Database.purge`. */
  async purge(): Promise<void> {}

  abstract close(): Promise<void>;
}
