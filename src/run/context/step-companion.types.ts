import type { ChatRequest } from '../../llm/chat/index.js';
import type { Statement } from '../../persistence/statement/index.js';
import type { RunFile } from '../files/run-file.types.js';
import type { StepFacts } from '../run.types.js';

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

/** The request of a model call. */
export interface StepRequest {
  /** The requested model, as `provider:model`. */
  readonly model: string;
  /** As the model receives it. */
  readonly request: ChatRequest;
  /** The body for the provider's API; `null` for a model without one. */
  readonly body: object | null;
}

export interface StepOptions<T> {
  /** Called after the action. */
  readonly facts?: () => Omit<StepFacts, 'startedAt'>;
  /** The request of its model call, for a reader that rebuilds it. */
  readonly request?: () => StepRequest;
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
