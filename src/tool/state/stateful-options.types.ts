import type { ConflictResolution, StateData } from './tool-state.types.js';

/** What may keep states, by where it does; which one is used where none is named is configured. */
export const STATE_MANAGERS = ['memory', 'persistent', 'session', 'distributed'] as const;
export type StateManagerName = (typeof STATE_MANAGERS)[number];

/** How a tool keeps state, as its author says it; what is left out is as configured. */
export interface StatefulOptions {
  /** Where its states are kept. */
  readonly manager?: StateManagerName;
  /** The business state of a context that has none yet; by default `{}`. */
  readonly initial?: StateData | (() => StateData);
  /** After how many ms without a change a state expires. */
  readonly ttlMs?: number;
  /** The most bytes (UTF-8) of a state as JSON, up to 4,194,304. */
  readonly maxStateBytes?: number;
  /** The most entries of a context's history that are kept; 0 keeps none. */
  readonly maxHistory?: number;
  /** The most versions of the business state that are kept; 0 keeps none. */
  readonly maxVersions?: number;
  /** What becomes of a change that was made on an older version than the one that is there. */
  readonly conflict?: ConflictResolution;
  /** Whether the state is forgotten when the run ends; always so without a session. */
  readonly cleanupAfterRun?: boolean;
  /** Whether a call that succeeds keeps its changes; else only `state.save()` does. By default so. */
  readonly autoSave?: boolean;
}
