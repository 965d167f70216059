import type { AppError } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import type { IncompleteReason } from '../../reasoning/index.js';
import type { RunContext } from '../../run/context/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import type { RunFailure, RunUsage } from '../../run/event/index.js';
import type { DataFact } from '../../run/facts/index.js';
import type { WorkDefinition } from '../definition/node.schema.js';
import type { WorkflowDefinition } from '../definition/workflow.schema.js';
import type { Scope } from '../template/template.parser.js';

/** One attempt of a node, or of one item of a map. */
export interface NodeTask {
  readonly workflow: WorkflowDefinition;
  /** Workflow version that the run was started with. */
  readonly version: number;
  /** Position of the node in the workflow, counted from 1. */
  readonly number: number;
  /** Name in events: the node's id, or `<id>/<n>` for the n-th item of a map. */
  readonly node: string;
  /** `node`, with the number of the attempt from the second attempt on; unique in the run. */
  readonly path: string;
  readonly scope: Scope;
  readonly run: RunContext;
  /** Aborts with the run, or when another node ends it. */
  readonly signal: AbortSignal;
  /** Whether agents of the node get a separate session, not the one that belongs to the workflow's session. */
  readonly hasOwnSession: boolean;
  /** Whether another node replaces it after a failure, so that it does not wait for the end of an outage. */
  readonly hasFallback: boolean;
  /** Whether a model's message can be streamed: no other node can stream at the same time. */
  readonly isStreaming: boolean;
  /** Facts of the data in its input. */
  readonly facts: readonly DataFact[];
}

/** Usage of a node. */
export interface NodeCost {
  readonly usage?: RunUsage;
  /** Usage of its child runs. */
  readonly children_usage?: RunUsage;
  readonly model_calls?: number;
}

export interface NodeDone extends NodeCost {
  readonly status: 'completed';
  readonly output: JsonValue;
  /** Nodes that a branch selected. */
  readonly next?: readonly string[];
  /** Whether the node has read untrusted content. Recorded by earlier versions; now in `facts`. */
  readonly is_tainted?: true;
  /** Facts of the data that the node has read. */
  readonly facts?: readonly DataFact[];
  /** Reason of an incomplete answer that the node accepted. */
  readonly incomplete?: IncompleteReason;
}

export interface NodeFailed extends NodeCost {
  readonly status: 'failed';
  readonly error: RunFailure;
  /** Facts of the data in its error; see `NodeDone`. */
  readonly facts?: readonly DataFact[];
}

/** Recorded end of a node. */
export type NodeRecord = NodeDone | NodeFailed | { readonly status: 'skipped' };

/** Outcome of an attempt. */
export type NodeOutcome = NodeDone | NodeFailed | NodeWaiting;

/** A node that continues in a later execution of the run. */
export interface NodeWaiting {
  readonly status: 'waiting';
  readonly requests: readonly WaitingRequest[];
  /** Set if the node waits for its provider, which is unavailable. */
  readonly outage?: AppError;
}

/** Executes the work of one node type. A thrown error fails the node, unless a signal has aborted. */
export interface WorkExecutor<Work extends WorkDefinition> {
  execute(work: Work, task: NodeTask): Promise<NodeOutcome>;
}
