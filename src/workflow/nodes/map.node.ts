import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type MapInput = Extract<NodeInput, { type: 'map' }>;

/** Does the same with every item of a list, as `{{item}}`, the `{{index}}`-th from 0: gives `results`, in the list's order. */
export class MapNode<const Id extends string> extends WorkflowNode<Id, MapInput> {
  /**
   * @param over a place that holds a list, such as `{{load.result}}`
   * @param node what is done with each: one that asks a model, an agent or a person, or calls a tool or code
   * @param limit how many at the same time; 8 when left out
   */
  constructor(id: Id, over: string, node: WorkflowNode, limit?: number) {
    const { id: _id, after: _after, onError: _onError, ...work } = node.toDefinition();
    super(id, {
      type: 'map',
      over,
      node: work as MapInput['node'],
      ...(limit !== undefined && { concurrency: limit }),
    });
  }

  /** An item that fails has `{ error }` as its result; by default the node fails with it. */
  keepingErrors(): this {
    return this.with({ onItemError: 'keep' });
  }
}
