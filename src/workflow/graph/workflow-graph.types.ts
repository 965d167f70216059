import type { NodeDefinition } from '../definition/node.schema.js';
import type { WorkflowDefinition } from '../definition/workflow.schema.js';

/** A way from a node to another one: always, when a branch goes there, or when the node has failed. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'next' | 'branch' | 'fallback';
  /** Of a branch: which conditions lead there, in words. */
  readonly label?: string;
}

export interface GraphNode {
  readonly definition: NodeDefinition;
  /** Its place in the workflow's list, counted from 1. */
  readonly number: number;
  readonly incoming: readonly Edge[];
}

/** A workflow that holds together: acyclic, and every place in it names something before it. */
export interface WorkflowGraph {
  readonly definition: WorkflowDefinition;
  /** In the workflow's order. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly Edge[];
  /** The nodes that come after a node on any way. */
  readonly descendants: ReadonlyMap<string, ReadonlySet<string>>;
  /** The nodes of models that speak while no other one of the run can. */
  readonly soloists: ReadonlySet<string>;
  /** The nodes whose agent an earlier node of the list may ask at the same time: they do not share its session. */
  readonly ownSessions: ReadonlySet<string>;
}
