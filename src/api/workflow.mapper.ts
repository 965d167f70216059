import { toMermaid, type RegisteredWorkflow, type WorkflowDefinition, type WorkflowStart } from '../workflow/index.js';
import { parseIdempotencyKey } from './idempotency.parser.js';
import type { WorkflowDto, WorkflowNodeDto, WorkflowRunDto } from './workflow.dto.js';

export function toWorkflowView({ graph }: RegisteredWorkflow): WorkflowDto {
  const { name, description, input, nodes } = graph.definition;
  return {
    name,
    description,
    ...(input && { input }),
    nodes: nodes.map(toNode),
    edges: graph.edges.map(({ from, to, kind }) => ({ from, to, kind })),
    mermaid: toMermaid(graph),
  };
}

/** @param body validated. @param key the `Idempotency-Key`. @throws AppError `VALIDATION_FAILED` for an invalid key */
export function toWorkflowStart(name: string, body: WorkflowRunDto, key: string | undefined): WorkflowStart {
  const idempotency = parseIdempotencyKey(key, `workflows/${name}/runs`, body);
  const { input, sessionId, priority, deadlineMs } = body;
  return {
    ...(input !== undefined && { input }),
    ...(sessionId !== undefined && { sessionId }),
    ...(priority !== undefined && { priority }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(idempotency && { idempotency }),
  };
}

type MappedWork = Extract<WorkflowDefinition['nodes'][number], { type: 'map' }>['node'];

function toNode(node: WorkflowDefinition['nodes'][number]): WorkflowNodeDto {
  const uses = usedBy(node.type === 'map' ? node.node : node);
  return {
    id: node.id,
    type: node.type,
    ...(node.description !== undefined && { description: node.description }),
    ...(uses !== undefined && { uses }),
  };
}

function usedBy(work: WorkflowDefinition['nodes'][number] | MappedWork): string | undefined {
  switch (work.type) {
    case 'agent':
      return typeof work.agent === 'string' ? work.agent : undefined;
    case 'tool':
      return work.tool;
    case 'code':
      return work.code;
    case 'llm':
    case 'human':
    case 'branch':
    case 'map':
      return undefined;
  }
}
