import type { JsonValue } from '../../common/index.js';
import type { IncompleteReason } from '../../reasoning/index.js';
import type { RunContext, RunFailure, RunUsage, WaitingRequest } from '../../run/index.js';
import type { WorkDefinition } from '../definition/node.schema.js';
import type { WorkflowDefinition } from '../definition/workflow.schema.js';
import type { Scope } from '../template/template.parser.js';

/** One try of a node, or of one item of a map. */
export interface NodeTask {
  readonly workflow: WorkflowDefinition;
  /** The version of workflows that the run was started with. */
  readonly version: number;
  /** The node's place in the workflow, counted from 1. */
  readonly number: number;
  /** What events call it: the node's id, or `<id>/<n>` for the n-th item of a map. */
  readonly node: string;
  /** `node`, with the number of the try from the second on: unique in the run. */
  readonly path: string;
  readonly scope: Scope;
  readonly run: RunContext;
  /** Aborted with the run, and when another node ends it. */
  readonly signal: AbortSignal;
  /** Whether agents that the node asks get a session of their own, not the one that the workflow's session has for them. */
  readonly hasOwnSession: boolean;
  /** Whether the message of a model can be told as it comes: nobody else speaks then. */
  readonly isStreaming: boolean;
  /** Whether what it is given may hold what strangers wrote. */
  readonly isTainted: boolean;
}

/** What a node took. */
export interface NodeCost {
  readonly usage?: RunUsage;
  /** What the runs took that it called. */
  readonly children_usage?: RunUsage;
  readonly model_calls?: number;
}

export interface NodeDone extends NodeCost {
  readonly status: 'completed';
  readonly output: JsonValue;
  /** Where a branch goes on. */
  readonly next?: readonly string[];
  /** Whether it has read what strangers wrote. */
  readonly is_tainted?: true;
  /** Why its output is not whole, where it is not and was accepted. */
  readonly incomplete?: IncompleteReason;
}

export interface NodeFailed extends NodeCost {
  readonly status: 'failed';
  readonly error: RunFailure;
}

/** What is recorded of a node once it is over. */
export type NodeRecord = NodeDone | NodeFailed | { readonly status: 'skipped' };

/** What came of a try. */
export type NodeOutcome =
  NodeDone | NodeFailed | { readonly status: 'waiting'; readonly requests: readonly WaitingRequest[] };

/** Does what nodes of one kind do. What it throws is the node's failure, unless a signal is aborted. */
export interface WorkExecutor<Work extends WorkDefinition> {
  execute(work: Work, task: NodeTask): Promise<NodeOutcome>;
}
