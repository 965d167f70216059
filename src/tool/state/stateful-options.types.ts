import type { ConflictResolution, StateData } from './tool-state.types.js';

/** State managers by storage location; the default is configured. */
export const STATE_MANAGERS = ['memory', 'persistent', 'session', 'distributed'] as const;
export type StateManagerName = (typeof STATE_MANAGERS)[number];

/** State options of a tool; defaults come from the configuration. */
export interface StatefulOptions {
  /** State manager. */
  readonly manager?: StateManagerName;
  /** Initial business state of a new context; default `{}`. */
  readonly initial?: StateData | (() => StateData);
  /** Time to live of a state after its last change, in ms. */
  readonly ttlMs?: number;
  /** Maximum size of a state as JSON, in bytes (UTF-8), up to 4,194,304. */
  readonly maxStateBytes?: number;
  /** Maximum number of calls in a context's history; 0: none. */
  readonly maxHistory?: number;
  /** Maximum number of stored versions of the business state; 0: none. */
  readonly maxVersions?: number;
  /** Write-conflict strategy for a change based on an outdated version. */
  readonly conflict?: ConflictResolution;
  /** Whether the state is deleted at the end of the run; always true without a session. */
  readonly cleanupAfterRun?: boolean;
  /** Whether a successful call stores its changes; otherwise only `state.save()` does. Default: the configuration. */
  readonly autoSave?: boolean;
}
