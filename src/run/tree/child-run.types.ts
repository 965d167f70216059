import type { AppError } from '../../errors/index.js';
import type { DataFact } from '../facts/data-facts.js';
import type { TerminalEvent } from '../event/run-event.types.js';
import type { WaitingRequest } from '../decision/waiting-request.types.js';

/** The position of a child run in its run tree. */
export interface RunLineage {
  readonly parentRunId: string;
  /** The parent's step of the call: `tool:1:2`. */
  readonly parentStep: string;
  /** The root run of the tree. */
  readonly rootRunId: string;
  /** The root's session; its budgets count the child's usage. */
  readonly rootSessionId: string | null;
  /** 1 for children of the root run. */
  readonly depth: number;
}

/** A request for a child run. The maker that is registered for its `kind` creates the run. */
export interface ChildRunRequest {
  /** The kind of the run's handler. */
  readonly kind: string;
  /** The subject of the run, such as an agent's name. */
  readonly name: string;
  /** Whether it replaces the parent: its answer is the parent's answer. */
  readonly isHandoff: boolean;
  /** The input of the run, as JSON. */
  readonly input: unknown;
  /** Whether the run gets a session of its own, and does not continue the one that its parent shares with its agent. */
  readonly isSeparate?: boolean;
  /** Facts of the data in the parent's context, and so in this input. */
  readonly facts: readonly DataFact[];
}

/** The data a maker needs to create a child run. */
export interface ChildRunPlace {
  readonly id: string;
  /** Whether the run gets a new session: the request says so, or another run has the shared session open. */
  readonly isSeparate: boolean;
}

/** A call that is executed as a run of its own. */
export interface ChildCall {
  /** The recorded id of the run. */
  readonly id: string;
  /** The parent's step of the call: `tool:1:2`. */
  readonly step: string;
  /** Creates the request if the run does not exist yet. */
  readonly request: () => Promise<ChildRunRequest>;
  /** Cancels the child run when it is aborted, as the parent's own signal does. */
  readonly signal?: AbortSignal;
}

/** The status of a child run. */
export type ChildStatus =
  | { readonly kind: 'ended'; readonly end: TerminalEvent; readonly agent: string; readonly durationMs: number }
  /** A person must decide before it continues. */
  | {
      readonly kind: 'waiting';
      readonly requests: readonly WaitingRequest[];
      /** Set if no person must decide: the provider of the run is unavailable, and the run is postponed. */
      readonly outage?: AppError;
    };
