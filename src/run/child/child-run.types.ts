import type { TerminalEvent } from '../run-event.types.js';
import type { WaitingRequest } from '../decision/waiting-request.types.js';

/** Where a run stands that is a call of another run. */
export interface RunLineage {
  readonly parentRunId: string;
  /** The parent's step that it is: `tool:1:2`. */
  readonly parentStep: string;
  /** The run at the top, which nobody called. */
  readonly rootRunId: string;
  /** Budgets of sessions count what it takes there. */
  readonly rootSessionId: string | null;
  /** 1 for what a run at the top calls, and so on. */
  readonly depth: number;
}

/** A run that a call wants; the handler of its kind makes it. */
export interface ChildRunRequest {
  /** The kind of the run: whose handler. */
  readonly kind: string;
  /** What it executes, as its handler knows it: an agent's name. */
  readonly name: string;
  /** What it is told: JSON. */
  readonly input: unknown;
  /** Whether it takes the parent's place: what it answers is the parent's answer. */
  readonly isHandoff: boolean;
  /** Whether the parent has read what strangers wrote, so that they may speak from what it says. */
  readonly isTainted: boolean;
}

/** What a handler must know to make a child run. */
export interface ChildRunPlace {
  readonly id: string;
  /** Whether another run is talking in the conversation that would be its own: it gets a new one then. */
  readonly isBusy: boolean;
}

/** A call that is a run of its own. */
export interface ChildCall {
  /** The id that the run has, or will get: recorded before. */
  readonly id: string;
  /** The parent's step that it is: `tool:1:2`. */
  readonly step: string;
  /** What to start when there is no such run yet. */
  readonly request: () => Promise<ChildRunRequest>;
}

/** Where a child run stands. */
export type ChildStanding =
  | { readonly kind: 'ended'; readonly end: TerminalEvent; readonly agent: string; readonly durationMs: number }
  /** Somebody must decide before it goes on. */
  | { readonly kind: 'waiting'; readonly requests: readonly WaitingRequest[] };
