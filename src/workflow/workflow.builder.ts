import type { Template } from './definition/condition.schema.js';
import type { NodeInput } from './definition/node.schema.js';
import type { WorkflowInput } from './definition/workflow.schema.js';
import { createGraph } from './graph/workflow-graph.factory.js';
import type { WorkflowNode } from './nodes/workflow.node.js';
import { parseWorkflow } from './workflow.registry.js';
import { isStandardSchema, jsonSchemaOf, type StandardInputSchema } from '../tool/index.js';
import type { JsonSchema } from '../common/index.js';

/** Where a node stands; `Ids` are those of the nodes that are there already. */
export interface NodePlacement<Ids extends string> {
  /** It begins when these are over; by default when those are that it names in places. */
  readonly after?: Ids | readonly Ids[];
}

/**
 * Builds a workflow node by node. The ids of nodes are known to the compiler, so that one cannot come after another that
 * is not there; where a branch or a fallback goes may be named before it is added.
 */
export class WorkflowBuilder<Ids extends string = never> {
  private readonly nodes: NodeInput[] = [];
  private readonly parts: Omit<WorkflowInput, 'name' | 'nodes'>;

  constructor(
    private readonly name: string,
    parts: Pick<WorkflowInput, 'description' | 'limits'> = {},
  ) {
    this.parts = { ...parts };
  }

  /** The input of a run, as a JSON Schema or a Standard Schema such as zod's. Its defaults fill in fields that a caller leaves out. */
  withInput(schema: JsonSchema | StandardInputSchema): this {
    this.parts.input = isStandardSchema(schema) ? { ...jsonSchemaOf(schema, 'its input') } : { ...schema };
    return this;
  }

  add<Id extends string>(node: WorkflowNode<Id>, { after }: NodePlacement<Ids> = {}): WorkflowBuilder<Ids | Id> {
    const before = after === undefined ? undefined : [after].flat();
    this.nodes.push({ ...node.toDefinition(), ...(before && { after: [...before] }) });
    return this;
  }

  /** What the workflow gives, with places such as `{{classify.response}}`; what its last nodes gave when left out. */
  withOutput(output: Template): this {
    this.parts.output = output;
    return this;
  }

  /** The workflow, checked. @throws AppError `WORKFLOW_INVALID` with every mistake */
  build(): WorkflowInput {
    const workflow = { name: this.name, ...this.parts, nodes: [...this.nodes] };
    createGraph(parseWorkflow(workflow, 'WorkflowBuilder'));
    return workflow;
  }
}
