import type { ContextFilter, ContextKey, StateHistoryEntry, StateType } from '../tool-state.types.js';

/** A state as it is stored: its data are JSON text. */
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
  /** Counted from 1, one more with every write. */
  readonly revision: number;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number | null;
  /** Whether it goes with the run that made it. */
  readonly isOfRun: boolean;
  /** The number of the last entry of its history, 0 for none. */
  readonly lastHistory: number;
  /** The number of the last change that was carried over into it, as text; `null` for none. */
  readonly lastChange: string | null;
  readonly states: StoredStates;
}

export interface StoredVersion {
  readonly version: number;
  readonly json: string;
  readonly at: number;
  readonly by: string | null;
}

/** A change of one context, whole or not at all. */
export interface ContextWrite {
  /** As it is then. Its revision is one more than it was, 1 for a new one. */
  readonly context: StoredContext;
  /** Those that differ from what was there; one that is not in the context is gone. */
  readonly changed: readonly StateType[];
  /** A business state that is to be kept as a version. */
  readonly version?: StoredVersion | undefined;
  /** Older versions than this are forgotten; 0 keeps all. */
  readonly oldestVersion: number;
  readonly history: readonly StateHistoryEntry[];
  /** Older entries than this are forgotten; 0 keeps all. */
  readonly oldestHistory: number;
}

/** The port to one place where contexts are stored; it knows neither policies nor what is in a state. */
export abstract class StateStore {
  abstract load(id: string): Promise<StoredContext | null>;

  /** Whose a context is, which is known also when what is in it cannot be read. */
  abstract keyOf(id: string): Promise<ContextKey | null>;

  /** @returns whether it was done: not when the revision is no longer the one before, then nothing was */
  abstract write(write: ContextWrite): Promise<boolean>;

  /** Newest first. */
  abstract versions(id: string): Promise<StoredVersion[]>;

  /** Newest first. */
  abstract history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]>;

  /**
   * @param revision only while it has this one: who found it expired must not remove what another has made anew
   * @returns whether it was there, with that revision
   */
  abstract remove(id: string, revision?: number): Promise<boolean>;

  /** Ids in order, of contexts that have not expired. */
  abstract list(filter: ContextFilter): Promise<string[]>;

  /** Ids of contexts that have expired, up to `limit`. @param now epoch ms */
  abstract expired(now: number, limit: number): Promise<string[]>;

  /** Those who have contexts. */
  abstract tenants(): Promise<string[]>;

  /** Takes what was removed out of its files too, as `Database.purge`. */
  async purge(): Promise<void> {}

  abstract close(): Promise<void>;
}
