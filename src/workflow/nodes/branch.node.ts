import type { Condition } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type BranchInput = Extract<NodeInput, { type: 'branch' }>;

/** Goes on with one of several nodes: gives `to`, and the `case` by its number from 0. */
export class BranchNode<const Id extends string> extends WorkflowNode<Id, BranchInput> {
  constructor(id: Id) {
    super(id, { type: 'branch', cases: [] });
  }

  /** @param when all must hold. @param to the node to go on with when no earlier case holds */
  when(when: Condition | readonly Condition[], to: string): this {
    const conditions = [when].flat().map(toInput);
    return this.with({ cases: [...this.definition.cases, { when: conditions, to }] });
  }

  /** Where to go on when no case holds; nowhere when it is not said. */
  otherwise(to: string): this {
    return this.with({ otherwise: to });
  }
}

function toInput({ in: among, ...condition }: Condition) {
  return { ...condition, ...(among && { in: [...among] }) };
}
