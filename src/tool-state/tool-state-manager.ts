import type {
  ContextFilter,
  ContextInfo,
  ContextKey,
  StateEntry,
  StateHistoryEntry,
  StateType,
  StateVersion,
} from './tool-state.types.js';
import type { StateData } from '../tool/stateful/index.js';

/** Keys to merge into a state, or a function that computes them from the current state. */
export type StateUpdate = StateData | ((data: StateData) => StateData);

export interface SetStateOptions {
  /** Time to live, in ms; default: the tool's policy. */
  readonly ttlMs?: number;
  /** Expected current version, 0 for an absent state; a mismatch is a conflict. Default: no check. */
  readonly basedOn?: number;
  /** Key of the call that causes the change. */
  readonly by?: string;
  /** Principal id of the writer: the erasure of this user deletes the context. */
  readonly user?: string;
}

/** Port to the state of tools. All returned values are copies. */
export abstract class ToolStateManager {
  /** Shown in contexts' metadata. */
  abstract readonly name: string;

  /** Returns the id of the key's context and creates it if absent. @throws AppError `TOOL_STATE_LIMIT` */
  abstract createContext(key: ContextKey): Promise<string>;

  /** `null` if absent or expired. */
  abstract getState(contextId: string, type: StateType): Promise<StateEntry | null>;

  /**
   * Replaces a state.
   * @returns the resulting state; with `first_write_wins` it may be another writer's
   * @throws AppError `TOOL_STATE_NOT_FOUND` for an unknown context, `TOOL_STATE_TOO_LARGE` (the old state stays),
   * `TOOL_STATE_CONFLICT`
   */
  abstract setState(
    contextId: string,
    type: StateType,
    data: StateData,
    options?: SetStateOptions,
  ): Promise<StateEntry>;

  /** Merges keys into a state atomically: concurrent updates are not lost. @throws AppError as `setState` */
  abstract updateState(
    contextId: string,
    type: StateType,
    updates: StateUpdate,
    options?: SetStateOptions,
  ): Promise<StateEntry>;

  /** Returns whether the state existed. */
  abstract deleteState(contextId: string, type: StateType): Promise<boolean>;

  /** Deletes a context with its states, versions and history. Returns whether it existed. */
  abstract cleanupContext(contextId: string): Promise<boolean>;

  abstract listContexts(filter: ContextFilter): Promise<string[]>;

  /** `null` for an unknown context. */
  abstract getContextInfo(contextId: string): Promise<ContextInfo | null>;

  /** History, newest first. @param before returns only entries before this `n` */
  abstract getHistory(contextId: string, limit: number, before?: number): Promise<StateHistoryEntry[]>;

  /** Stored versions of the business state, newest first. */
  abstract getVersions(contextId: string): Promise<StateVersion[]>;

  /** Restores a version of the business state as a new version. @throws AppError `TOOL_STATE_NOT_FOUND` */
  abstract rollback(contextId: string, version: number, by?: string): Promise<StateEntry>;

  abstract close(): Promise<void>;
}
