import type { Statement } from '../persistence/index.js';

/** What goes with a step: a change elsewhere that is there exactly when the step is recorded. */
export interface StepCompanion {
  /** For the batch that records the step. */
  statements(): readonly Statement[];
  /** Called when conditions of the statements did not hold, so that nothing was committed: they are made anew then. */
  reconsider(): Promise<void>;
  /** Called once the step is durable. What it throws is its own fault: the step stands. */
  committed(): Promise<void>;
  /** Does it all, where there is no journal. */
  alone(): Promise<void>;
}

export interface StepOptions<T> {
  /**
   * Says that the run ends with this result and nothing else happens before: it is then recorded in the batch of the
   * end, which saves a commit.
   */
  readonly isLast?: (result: T) => boolean;
  /** Asked once the action is done. */
  readonly companion?: () => StepCompanion | undefined;
}
