import type { NodeInput } from '../definition/node.schema.js';
import { WorkflowNode } from './workflow.node.js';

type MapInput = Extract<NodeInput, { type: 'map' }>;

/** Executes a node for each item of a list, with `{{item}}` and the 0-based `{{index}}`; outputs ordered `results`. */
export class MapNode<const Id extends string> extends WorkflowNode<Id, MapInput> {
  /**
   * @param over a placeholder for a list, such as `{{load.result}}`
   * @param node the work for each item: a model, agent, tool, code or human node
   * @param limit maximum items executed in parallel; default 8
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

  /** A failed item has `{ error }` as its result; by default it fails the node. */
  keepingErrors(): this {
    return this.with({ onItemError: 'keep' });
  }
}
