import type { Template } from './definition/condition.schema.js';
import type { NodeInput } from './definition/node.schema.js';
import type { WorkflowInput } from './definition/workflow.schema.js';
import { createGraph } from './graph/workflow-graph.factory.js';
import type { WorkflowNode } from './nodes/workflow.node.js';
import { parseWorkflow } from './workflow.registry.js';
import { isStandardSchema, jsonSchemaOf, type StandardInputSchema } from '../tool/input/index.js';
import type { JsonSchema } from '../kernel/json/index.js';

/** Position of a node; `Ids` are the ids of the nodes added before. */
export interface NodePlacement<Ids extends string> {
  /** Predecessors; default: the nodes that its placeholders name, none for a target of a branch or fallback. */
  readonly after?: Ids | readonly Ids[];
}

/**
 * Builds a workflow node by node. The compiler checks ids in `after`, so that a node cannot follow an unknown node.
 * Targets of branches and fallbacks may be added later.
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

  /**
   * The input of a run, as a JSON Schema or a Standard Schema such as zod's. Its defaults fill in omitted fields.
   */
  withInput(schema: JsonSchema | StandardInputSchema): this {
    this.parts.input = isStandardSchema(schema) ? { ...jsonSchemaOf(schema, 'its input') } : { ...schema };
    return this;
  }

  add<Id extends string>(node: WorkflowNode<Id>, { after }: NodePlacement<Ids> = {}): WorkflowBuilder<Ids | Id> {
    const before = after === undefined ? undefined : [after].flat();
    this.nodes.push({ ...node.toDefinition(), ...(before && { after: [...before] }) });
    return this;
  }

  /** Output of the workflow, with placeholders such as `{{classify.response}}`; default: output of its last nodes. */
  withOutput(output: Template): this {
    this.parts.output = output;
    return this;
  }

  /** Validates the workflow. @throws AppError `WORKFLOW_INVALID` naming the faults */
  build(): WorkflowInput {
    const workflow = { name: this.name, ...this.parts, nodes: [...this.nodes] };
    createGraph(parseWorkflow(workflow, 'WorkflowBuilder'));
    return workflow;
  }
}
