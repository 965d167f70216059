import type { JsonValue } from '../../common/index.js';

/**
 * What a state is of: the connection to what the tool talks to, the conversation, the tool's own business, or what it
 * could find out again.
 */
export const STATE_TYPES = ['connection', 'session', 'business', 'cache'] as const;
export type StateType = (typeof STATE_TYPES)[number];

/** A JSON object. */
export type StateData = Readonly<Record<string, JsonValue>>;

/** Whose state it is: a tool's in a session of a tenant. The same one always has the same context. */
export interface ContextKey {
  readonly tenant: string;
  /** The session's id, or `run:` and the run's for one without a session. */
  readonly session: string;
  /** The tool's name. */
  readonly tool: string;
}

export interface StateEntry<T extends object = StateData> {
  /** The context's id and the type. */
  readonly id: string;
  readonly contextId: string;
  readonly type: StateType;
  readonly data: T;
  /** Counted from 1, one more with every change. */
  readonly version: number;
  /** Epoch ms, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** `null`: never. */
  readonly expiresAt: number | null;
}

/** A context without what is in its states. */
export interface ContextInfo extends ContextKey {
  readonly id: string;
  /** Which manager keeps it. */
  readonly manager: string;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number | null;
  readonly states: readonly Omit<StateEntry, 'data' | 'contextId'>[];
}

/** What happened to a context, in order. */
export interface StateHistoryEntry {
  /** Counted from 1 in the context. */
  readonly n: number;
  readonly at: number;
  readonly kind: 'execution_start' | 'execution_success' | 'execution_error' | 'rollback';
  /** The key of the call that did it; `null` when it was none. */
  readonly by: string | null;
  readonly detail: StateData;
}

/** A business state as it was. */
export interface StateVersion {
  readonly version: number;
  readonly at: number;
  /** The key of the call that made it; `null` when it was none. */
  readonly by: string | null;
  readonly data: StateData;
}

/**
 * What becomes of a change that was made on an older version than the one that is there: it overwrites it, is dropped, is
 * laid over it key by key, or is an error.
 */
export const CONFLICT_RESOLUTIONS = ['last_write_wins', 'first_write_wins', 'merge', 'error'] as const;
export type ConflictResolution = (typeof CONFLICT_RESOLUTIONS)[number];

/** How the states of one tool are kept. */
export interface StatePolicy {
  /** After how many ms without a change a state expires; `null`: never. */
  readonly ttlMs: number | null;
  /** After how many ms without a use a context expires whole; `null`: never. */
  readonly idleMs: number | null;
  /** The most bytes (UTF-8) of a state as JSON. */
  readonly maxStateBytes: number;
  /** The most entries of history that are kept. */
  readonly maxHistory: number;
  /** The most versions of the business state that are kept, the present one included; 0: none. */
  readonly maxVersions: number;
  /** The most tools that keep states in one session; `null`: any number. */
  readonly maxContextsPerSession: number | null;
  readonly conflict: ConflictResolution;
}

/** Which contexts, in the order of their ids. */
export interface ContextFilter {
  readonly tenant: string;
  readonly tool?: string;
  readonly session?: string;
  /** The last id of the page before. */
  readonly after?: string;
  readonly limit?: number;
}
