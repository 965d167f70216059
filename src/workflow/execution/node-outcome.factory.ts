import { type ErrorCode, toAppError } from '../../errors/index.js';
import { useOutcome, type IncompleteReason, type OnIncomplete } from '../../reasoning/index.js';
import { NO_USAGE, type RunFailure, type RunFinishReason } from '../../run/event/index.js';
import { type DataFact, storedFacts } from '../../run/facts/index.js';
import { addUsage } from '../../run/usage/index.js';
import type { NodeCost, NodeDone, NodeFailed, NodeRecord, NodeTask } from './node-task.types.js';

/** A failed node with an error code of the application. */
export function failedNode(code: ErrorCode, message: string, cost: NodeCost = {}): NodeFailed {
  return { status: 'failed', error: { code, message, is_retryable: false }, ...cost };
}

/** A failed node, from a thrown error. */
export function thrownNode(error: unknown): NodeFailed {
  const { code, message, isRetryable, details } = toAppError(error);
  return { status: 'failed', error: { code, message, is_retryable: isRetryable, ...(details && { details }) } };
}

/** The answer of a model or an agent in a node. */
export interface NodeAnswer {
  readonly finish_reason: RunFinishReason;
  readonly onIncomplete: OnIncomplete;
  /** The subject of the error message: `The model "m"`. */
  readonly subject: string;
  /** Names of the settings that limit the answer, for error messages. */
  readonly settings: Partial<Record<IncompleteReason, string>>;
}

/** Completes a node with an answer: an incomplete answer fails the node, or marks it if the node accepts that. */
export function answeredNode(answer: NodeAnswer, done: NodeDone, { version }: NodeTask): NodeDone | NodeFailed {
  // Runs of version 1 accept every answer as complete.
  if (version === 1) return done;
  const use = useOutcome({ ...answer, remedies: remediesOf(answer) }, answer.onIncomplete);
  switch (use.kind) {
    case 'whole':
      return done;
    case 'marked':
      return { ...done, incomplete: use.finish_reason };
    case 'failed':
      return { status: 'failed', error: use.failure, ...costOf(done), ...withFacts(done.facts) };
  }
}

function remediesOf({ settings, finish_reason }: NodeAnswer): Partial<Record<IncompleteReason, string>> {
  if (finish_reason === 'stop') return {};
  const accept = 'use the answer as it is with "onIncomplete": "accept" in the node';
  const setting = settings[finish_reason];
  return { [finish_reason]: setting === undefined ? accept : `raise ${setting}, or ${accept}` };
}

/** Facts of the data in the output, or the error, of a node. */
export function factsOfNode(record: NodeRecord): readonly DataFact[] {
  if (record.status === 'skipped') return [];
  const { facts, ...done } = record;
  return storedFacts({ facts, isTainted: 'is_tainted' in done && done.is_tainted === true });
}

/** The part of a record with facts; empty without facts. */
export function withFacts(facts: readonly DataFact[] = []): { readonly facts?: readonly DataFact[] } {
  return facts.length > 0 ? { facts } : {};
}

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

/** Adds the node's id to the message of a failure. */
export function inNode(node: string, { message, ...failure }: RunFailure): RunFailure {
  return { ...failure, message: `Node "${node}" failed: ${message}` };
}

function sum(one: NodeCost['usage'], other: NodeCost['usage']): NodeCost['usage'] {
  return one || other ? addUsage(one ?? NO_USAGE, other ?? NO_USAGE) : undefined;
}
