import type { Principal } from '../common/index.js';
import type { ChildCall, ChildStanding, RunLineage } from './child/child-run.types.js';
import type { Decision } from './decision/decision.types.js';
import type { RunEvent } from './run-event.types.js';
import type { StepOptions } from './step-companion.types.js';

/** The explicit, unique name of a step: its kind, then its place. */
export interface StepName {
  readonly kind: 'model' | 'tool' | 'policy' | 'claim' | 'suspend' | 'child' | 'node';
  /** Counted from 1: `<iteration>` or `<iteration>:<call>`; `:r<n>` follows what is done for the n-th time. */
  readonly place: string;
  /** What the step is about; a recorded step asked for about something else is an error. */
  readonly subject: string;
}

/** All that a loop may do to the world: steps, claims, values, events, and a signal that tells it to stop. */
export abstract class RunContext {
  abstract readonly runId: string;
  abstract readonly principal: Principal;
  abstract readonly sessionId: string | null;
  /** Whose call the run is; `null` for one that no run called. */
  abstract readonly lineage: RunLineage | null;
  /** Aborted with an `AppError` as reason: `RUN_CANCELLED`, `RUN_TIMEOUT`, `SHUTTING_DOWN` or `RUN_FENCED`. */
  abstract readonly signal: AbortSignal;
  /** Whether what it tells is recorded. */
  readonly isJournaled: boolean = false;
  /** When the signal will be aborted for the time that is up, epoch ms. */
  readonly deadlineAt?: number;

  /** While what the run's beginning told has not gone out: nothing that is told later can pass it. */
  get begun(): Promise<void> | null {
    return null;
  }

  /** The step's name in the run, unique there: `tool:1:2`. With the run's id it is the key of what must happen once. */
  nameOf({ kind, place }: Pick<StepName, 'kind' | 'place'>): string {
    return `${kind}:${place}`;
  }

  /**
   * Gives what the journal recorded under this name, else runs `action` and resolves when its result is durable.
   * A rejection of `action` is passed on and nothing is recorded.
   * @throws AppError `STEP_CONFLICT` when the name was recorded about another subject
   */
  abstract step<T>(name: StepName, action: () => Promise<T>, options?: StepOptions<T>): Promise<T>;

  /** Whether an earlier execution recorded the step, so that it will answer without happening. */
  abstract isRecorded(name: { readonly kind: StepName['kind'] | 'value'; readonly place: string }): boolean;

  /** How a request was answered that the run waited for, if it was. */
  abstract answer(requestId: string): Decision | undefined;

  /** A value that must be the same in every replay (time, an id, a place); recorded with the next batch. */
  abstract value<T>(place: string, make: () => T | Promise<T>): Promise<T>;

  /**
   * Says, durably and before it happens, that something is going to happen that must not happen twice.
   * @param announcement told to the world in the same batch, unless the claim was there
   * @returns `unknown` when an earlier execution claimed it: it may or may not have happened
   */
  abstract claim(place: string, announcement: RunEvent): Promise<'claimed' | 'unknown'>;

  /**
   * Starts the run that a call is, or joins it when it was started before, and waits until it has ended or waits for a
   * person. Its id must be recorded before.
   * @throws the signal's reason, when it is aborted; what says that there is no such run to be made
   */
  abstract join(call: ChildCall): Promise<ChildStanding>;

  /**
   * Tells the world; what is journaled becomes visible with the next batch, in order. A journaled event belongs inside
   * the action of a step, or a replay tells it again.
   */
  abstract emit(event: RunEvent): void;

  /** Tells what belongs to the end of the run, outside of any step: with the end, or not at all. */
  emitWithEnd(event: RunEvent): void {
    this.emit(event);
  }
}
