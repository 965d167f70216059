import type { RunRecord, RunStatus } from '../run.types.js';
import type { ChildCall, ChildStanding } from './child-run.types.js';

/** What those who execute a run must know of the runs around it. */
export interface RunFamily {
  /**
   * Starts the run that a call is, or joins it when it has been started before, and waits until it has ended or waits
   * for a person.
   */
  join(parent: RunRecord, call: ChildCall, signal: AbortSignal): Promise<ChildStanding>;
  /** Notes that the run has called others before, wherever that was. */
  remember(runId: string): void;
  /** What an execution's end means to the runs above and below: who waits for it goes on, and whom it called stops. */
  settled(run: RunRecord, status: RunStatus): Promise<void>;
  /** Whether the run that called this one has ended, so that nobody wants its answer. */
  isOrphan(run: RunRecord): Promise<boolean>;
}
