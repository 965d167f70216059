import { type ErrorCode, toAppError } from '../../common/index.js';
import { addUsage, NO_USAGE, type RunFailure } from '../../run/index.js';
import type { NodeCost, NodeFailed } from './node-task.types.js';

/** A node that failed for a reason of ours. */
export function failedNode(code: ErrorCode, message: string, cost: NodeCost = {}): NodeFailed {
  return { status: 'failed', error: { code, message, is_retryable: false }, ...cost };
}

/** A node that failed with what was thrown. */
export function thrownNode(error: unknown): NodeFailed {
  const { code, message, isRetryable, details } = toAppError(error);
  return { status: 'failed', error: { code, message, is_retryable: isRetryable, ...(details && { details }) } };
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
