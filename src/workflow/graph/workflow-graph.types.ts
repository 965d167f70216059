import type { NodeDefinition } from '../definition/node.schema.js';
import type { WorkflowDefinition } from '../definition/workflow.schema.js';

/** An edge: taken after success (`next`), when a branch selects it (`branch`), or after a failure (`fallback`). */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'next' | 'branch' | 'fallback';
  /** Conditions of a branch edge, as text. */
  readonly label?: string;
}

export interface GraphNode {
  readonly definition: NodeDefinition;
  /** Position in the workflow's list, counted from 1. */
  readonly number: number;
  readonly incoming: readonly Edge[];
}

/** A valid workflow: acyclic, and every placeholder names an earlier node or the input. */
export interface WorkflowGraph {
  readonly definition: WorkflowDefinition;
  /** In the order of the definition. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: readonly Edge[];
  /** All nodes after a node, on any path. */
  readonly descendants: ReadonlyMap<string, ReadonlySet<string>>;
  /** The llm nodes with an exclusive stream: no other model node can execute at the same time. */
  readonly soloists: ReadonlySet<string>;
  /** The nodes whose agent an earlier node of the list may ask at the same time; they get separate sessions. */
  readonly ownSessions: ReadonlySet<string>;
}
