import { type ErrorCode, toAppError } from '../../common/index.js';
import { useOutcome, type IncompleteReason, type OnIncomplete } from '../../reasoning/index.js';
import { addUsage, NO_USAGE, type RunFailure, type RunFinishReason } from '../../run/index.js';
import type { NodeCost, NodeDone, NodeFailed, NodeTask } from './node-task.types.js';

/** A node that failed for a reason of ours. */
export function failedNode(code: ErrorCode, message: string, cost: NodeCost = {}): NodeFailed {
  return { status: 'failed', error: { code, message, is_retryable: false }, ...cost };
}

/** A node that failed with what was thrown. */
export function thrownNode(error: unknown): NodeFailed {
  const { code, message, isRetryable, details } = toAppError(error);
  return { status: 'failed', error: { code, message, is_retryable: isRetryable, ...(details && { details }) } };
}

/** An answer of a model or an agent, as its node has it. */
export interface NodeAnswer {
  readonly finish_reason: RunFinishReason;
  readonly onIncomplete: OnIncomplete;
  /** The subject of the error message: `The model "m"`. */
  readonly subject: string;
  /** Where the limits of the answer are set, as the error names them. */
  readonly settings: Partial<Record<IncompleteReason, string>>;
}

/** A node that has an answer: it fails with one that is not whole, unless it accepts that; then it is marked. */
export function answeredNode(answer: NodeAnswer, done: NodeDone, { version }: NodeTask): NodeDone | NodeFailed {
  // Runs of version 1 took every answer as whole.
  if (version === 1) return done;
  const use = useOutcome({ ...answer, remedies: remediesOf(answer) }, answer.onIncomplete);
  switch (use.kind) {
    case 'whole':
      return done;
    case 'marked':
      return { ...done, incomplete: use.finish_reason };
    case 'failed':
      return { status: 'failed', error: use.failure, ...costOf(done) };
  }
}

function remediesOf({ settings, finish_reason }: NodeAnswer): Partial<Record<IncompleteReason, string>> {
  if (finish_reason === 'stop') return {};
  const accept = 'use the answer as it is with "onIncomplete": "accept" in the node';
  const setting = settings[finish_reason];
  return { [finish_reason]: setting === undefined ? accept : `raise ${setting}, or ${accept}` };
}

/** What two of them took together. */
export function addCost(one: NodeCost, other: NodeCost): NodeCost {
  const usage = sum(one.usage, other.usage);
  const children_usage = sum(one.children_usage, other.children_usage);
  const model_calls = (one.model_calls ?? 0) + (other.model_calls ?? 0);
  return {
    ...(usage && { usage }),
    ...(children_usage && { children_usage }),
    ...(model_calls > 0 && { model_calls }),
  };
}

export function costOf({ usage, children_usage, model_calls }: NodeCost): NodeCost {
  return {
    ...(usage && { usage }),
    ...(children_usage && { children_usage }),
    ...(model_calls !== undefined && { model_calls }),
  };
}

/** An error as the run tells it whose node it was. */
export function inNode(node: string, { message, ...failure }: RunFailure): RunFailure {
  return { ...failure, message: `Node "${node}" failed: ${message}` };
}

function sum(one: NodeCost['usage'], other: NodeCost['usage']): NodeCost['usage'] {
  return one || other ? addUsage(one ?? NO_USAGE, other ?? NO_USAGE) : undefined;
}
