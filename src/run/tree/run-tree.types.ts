import type { RunRecord, RunStatus } from '../run.types.js';
import type { ChildCall, ChildStatus } from './child-run.types.js';

/** The operations on a run tree that the executor needs. */
export interface RunTree {
  /**
   * Starts the child run of a call, or joins it if it was started before. Resolves when the child has ended or waits
   * for a decision.
   */
  join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStatus>;
  /** Notes that the run has started child runs before, on any node. */
  remember(runId: string): void;
  /** Handles an execution's end: resumes the parent if it waits, and cancels the open children of an ended run. */
  settled(run: RunRecord, status: RunStatus): Promise<void>;
  /** Whether the parent has ended, so that the run is not needed. */
  isOrphan(run: RunRecord): Promise<boolean>;
}
