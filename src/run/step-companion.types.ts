import type { Statement } from '../persistence/index.js';
import type { RunFile } from './files/run-file.types.js';
import type { StepFacts } from './run.types.js';

/** A change elsewhere that is committed exactly when the step is recorded. */
export interface StepCompanion {
  /** Statements for the batch that records the step. */
  statements(): readonly Statement[];
  /**
   * Called when conditions of the statements did not hold and nothing was committed; the statements are then rebuilt.
   */
  reconsider(): Promise<void>;
  /** Called once the step is durable. It handles its own errors: the step remains recorded. */
  committed(): Promise<void>;
  /** Applies the change without a journal. */
  alone(): Promise<void>;
}

export interface StepOptions<T> {
  /** Called after the action. */
  readonly facts?: () => Omit<StepFacts, 'startedAt'>;
  /**
   * The body of its request to a provider, for a reader that rebuilds it; `null` without one. With `isAny`, a model
   * without a provider's API has the request that it receives.
   */
  readonly request?: (isAny?: boolean) => object | null;
  /**
   * Returns true if the run ends with this result and no other step follows. The step is then recorded in the batch of
   * the end, which saves a commit.
   */
  readonly isLast?: (result: T) => boolean;
  /** Files of the result, recorded in the batch of the step. Called after the action. */
  readonly files?: () => readonly RunFile[];
  /** Called after the action. */
  readonly companion?: () => StepCompanion | undefined;
}
