import type { ConflictResolution, StateData } from '../tool/stateful/index.js';

/**
 * Scope of a state: the connection to an external system, the conversation, the tool's business data, or derived data
 * that can be recomputed.
 */
export const STATE_TYPES = ['connection', 'session', 'business', 'cache'] as const;
export type StateType = (typeof STATE_TYPES)[number];

/** Identifies a context: one tool in one session of a tenant. */
export interface ContextKey {
  readonly tenant: string;
  /** Session id, or `run:` and the run id without a session. */
  readonly session: string;
  /** Name of the tool. */
  readonly tool: string;
}

export interface StateEntry<T extends object = StateData> {
  /** Context id and type. */
  readonly id: string;
  readonly contextId: string;
  readonly type: StateType;
  readonly data: T;
  /** Starts at 1; increases by 1 with each change. */
  readonly version: number;
  /** All times are epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** `null`: no expiry. */
  readonly expiresAt: number | null;
}

/** A context without the data of its states. */
export interface ContextInfo extends ContextKey {
  readonly id: string;
  /** State manager that stores it. */
  readonly manager: string;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number | null;
  readonly states: readonly Omit<StateEntry, 'data' | 'contextId'>[];
}

/** One event in the history of a context. */
export interface StateHistoryEntry {
  /** Sequence number in the context, from 1. */
  readonly n: number;
  readonly at: number;
  readonly kind: 'execution_start' | 'execution_success' | 'execution_error' | 'rollback';
  /** Key of the call that caused it; `null` without a call. */
  readonly by: string | null;
  readonly detail: StateData;
}

/** A stored version of a business state. */
export interface StateVersion {
  readonly version: number;
  readonly at: number;
  /** Key of the call that wrote it; `null` without a call. */
  readonly by: string | null;
  readonly data: StateData;
}

/** Storage limits of one tool's states. */
export interface StatePolicy {
  /** Time to live of a state after its last change, in ms; `null`: no expiry. */
  readonly ttlMs: number | null;
  /** Time to live of a context after its last use, in ms; `null`: no expiry. */
  readonly idleMs: number | null;
  /** Maximum size of a state as JSON, in bytes (UTF-8). */
  readonly maxStateBytes: number;
  /** Maximum number of stored history entries. */
  readonly maxHistory: number;
  /** Maximum number of stored versions of the business state, including the current one; 0: none. */
  readonly maxVersions: number;
  /** Maximum number of contexts (tools) in one session; `null`: no limit. */
  readonly maxContextsPerSession: number | null;
  readonly conflict: ConflictResolution;
}

/** Filter for contexts; results are ordered by id. */
export interface ContextFilter {
  readonly tenant: string;
  readonly tool?: string;
  readonly session?: string;
  /** Only contexts of one of these sessions. */
  readonly sessions?: readonly string[];
  /** Last id of the previous page. */
  readonly after?: string;
  readonly limit?: number;
}
