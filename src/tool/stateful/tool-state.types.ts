import type { JsonValue } from '../../kernel/json/index.js';

/** A JSON object. */
export type StateData = Readonly<Record<string, JsonValue>>;

/** State types that a tool reads and writes by name. */
export type SideStateType = 'session' | 'cache';

/** State of a tool in one call. A failed call does not change it. */
export interface ToolState<T extends object = StateData> {
  /** The current data, including changes of this call; a copy. */
  readonly data: Readonly<T>;
  /** Version at the start of the call; 0 for a new state. */
  readonly version: number;
  readonly contextId: string;
  /** Merges keys into the state; an `undefined` value removes its key. */
  update(changes: Partial<T> | ((data: Readonly<T>) => Partial<T>)): void;
  /** Replaces the state. */
  replace(data: T): void;
  /**
   * Stores the changes so far, even if the call fails later; without `autoSave` nothing else is stored. Like every
   * change, it throws after the call's time-out, cancel or end.
   */
  save(): void;
  /** The session or cache state; `null` if absent. */
  get(type: SideStateType): StateData | null;
  /** Replaces or deletes (`null`) a state. @param ttlMs time to live, in ms */
  set(type: SideStateType, data: StateData | null, ttlMs?: number): void;
}

/** The state given to the tool in one call. */
export interface HeldToolState extends ToolState {
  /** Allows changes until the signal is aborted or the call ends. */
  until(signal: AbortSignal): this;
  /** Resets the changes to the last saved ones, before a retry. */
  reset(): void;
}
