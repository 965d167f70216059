import type { FileMark } from '../files/run-file.mapper.js';
import type { RefusedBatch } from '../late-result.service.js';
import type { RunOpening } from '../run.types.js';
import type { RunTrace } from '../trace/run-trace.js';
import type { RunTree } from '../tree/run-tree.types.js';

/** The parts of a run's context that an execution provides. */
export interface ContextParts {
  /** Set if the journal does not hold the run yet. */
  readonly opening?: RunOpening | undefined;
  /** Files of earlier executions. */
  readonly files?: readonly FileMark[];
  /** Time for which the run outlasts an outage of its provider, in ms; 0 by default. */
  readonly patienceMs?: number;
  /** Starts and joins child runs. */
  readonly children?: Pick<RunTree, 'join'> | undefined;
  /** Called when clients have waited for the database as long as they may. */
  readonly onHeld?: () => void;
  /** Absent without traces. */
  readonly trace?: RunTrace | undefined;
  /** Receives a batch that was refused because another process has claimed the run. */
  readonly onFenced?: ((batch: RefusedBatch) => void) | undefined;
}
