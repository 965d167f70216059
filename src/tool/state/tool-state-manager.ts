import type {
  ContextFilter,
  ContextInfo,
  ContextKey,
  StateData,
  StateEntry,
  StateHistoryEntry,
  StateType,
  StateVersion,
} from './tool-state.types.js';

/** What is laid over a state, or what makes that of the state as it is. */
export type StateUpdate = StateData | ((data: StateData) => StateData);

export interface SetStateOptions {
  /** After how many ms it expires; by default as the tool's policy says. */
  readonly ttlMs?: number;
  /** The version that the change was made on, 0 for none; another one there is a conflict. Without it there is none. */
  readonly basedOn?: number;
  /** Who did it: the key of a call. */
  readonly by?: string;
}

/** The port to where tools keep state. Nothing that it gives is the thing itself: changing it changes nothing. */
export abstract class ToolStateManager {
  /** As it stands in a context's information. */
  abstract readonly name: string;

  /** Gives the id of the key's context, which is there from then on. @throws AppError `TOOL_STATE_LIMIT` */
  abstract createContext(key: ContextKey): Promise<string>;

  /** `null` when there is none, or it has expired. */
  abstract getState(contextId: string, type: StateType): Promise<StateEntry | null>;

  /**
   * Replaces a state.
   * @returns the state as it is then: with the resolution `first_write_wins` it may be another's
   * @throws AppError `TOOL_STATE_NOT_FOUND` when there is no such context, `TOOL_STATE_TOO_LARGE` (the old one is kept),
   *   `TOOL_STATE_CONFLICT`
   */
  abstract setState(
    contextId: string,
    type: StateType,
    data: StateData,
    options?: SetStateOptions,
  ): Promise<StateEntry>;

  /** Lays keys over a state, atomically: however many do so at once, none is lost. @throws AppError as `setState` */
  abstract updateState(
    contextId: string,
    type: StateType,
    updates: StateUpdate,
    options?: SetStateOptions,
  ): Promise<StateEntry>;

  /** Gives whether there was one. */
  abstract deleteState(contextId: string, type: StateType): Promise<boolean>;

  /** Forgets a context with all that is in it, its versions and its history. Gives whether there was one. */
  abstract cleanupContext(contextId: string): Promise<boolean>;

  abstract listContexts(filter: ContextFilter): Promise<string[]>;

  /** `null` when there is none. */
  abstract getContextInfo(contextId: string): Promise<ContextInfo | null>;

  /** What happened, the last first. @param before only what was before this `n` */
  abstract getHistory(contextId: string, limit: number, before?: number): Promise<StateHistoryEntry[]>;

  /** The business states that are kept, the present one first. */
  abstract getVersions(contextId: string): Promise<StateVersion[]>;

  /** Makes the business state what it was; that is a new version. @throws AppError `TOOL_STATE_NOT_FOUND` */
  abstract rollback(contextId: string, version: number, by?: string): Promise<StateEntry>;

  abstract close(): Promise<void>;
}
