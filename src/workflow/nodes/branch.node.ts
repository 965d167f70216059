import type { Condition } from '../definition/condition.schema.js';
import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type BranchInput = Extract<NodeInput, { type: 'branch' }>;

/** Continues with one of several nodes; outputs `to`, and `case`, the 0-based index of the case. */
export class BranchNode<const Id extends string> extends WorkflowNode<Id, BranchInput> {
  constructor(id: Id) {
    super(id, { type: 'branch', cases: [] });
  }

  /** @param when all must hold. @param to next node if no earlier case holds */
  when(when: Condition | readonly Condition[], to: string): this {
    const conditions = [when].flat().map(toInput);
    return this.with({ cases: [...this.definition.cases, { when: conditions, to }] });
  }

  /** Next node if no case holds; default: none. */
  otherwise(to: string): this {
    return this.with({ otherwise: to });
  }
}

function toInput({ in: among, ...condition }: Condition) {
  return { ...condition, ...(among && { in: [...among] }) };
}
