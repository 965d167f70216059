import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../agent/index.js';
import type { RunAnswer } from '../agent/answer/index.js';
import type { Principal } from '../kernel/index.js';
import type { RunHandle } from '../run/index.js';
import {
  type RegisteredWorkflow,
  toMermaid,
  type WorkflowDefinition,
  WorkflowService,
  type WorkflowStart,
} from '../workflow/index.js';
import { markReplay, parseIdempotencyKey } from './client-request.js';
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

/** A request to start a workflow. */
interface StartRequest {
  readonly name: string;
  readonly body: WorkflowRunDto;
  /** The `Idempotency-Key`. */
  readonly key: string | undefined;
}

const OPEN: ReadonlySet<RunAnswer['status']> = new Set(['queued', 'running', 'waiting']);

/** Starts workflows for requests. */
@Injectable()
export class WorkflowRunService {
  constructor(
    private readonly workflows: WorkflowService,
    private readonly agents: AgentService,
  ) {}

  /** Returns the run after its start; its URL is in the header `Location`. */
  async start(principal: Principal, { name, body, key }: StartRequest, reply: FastifyReply): Promise<RunAnswer> {
    const start = toWorkflowStart(name, body, key);
    const onStart = (run: Pick<RunHandle, 'id' | 'kind'>): void => {
      markReplay(reply, run);
      reply.header('location', `/api/runs/${run.id}`);
    };
    const answer = body.wait
      ? this.agents.show(await this.workflows.run(principal, name, start, onStart))
      : await this.submit(principal, name, start, onStart);
    reply.status(OPEN.has(answer.status) ? 202 : 200);
    return answer;
  }

  private async submit(
    principal: Principal,
    name: string,
    start: ReturnType<typeof toWorkflowStart>,
    onStart: (run: Pick<RunHandle, 'id' | 'kind'>) => void,
  ): Promise<RunAnswer> {
    const run = await this.workflows.submit(principal, name, start);
    onStart(run);
    return this.agents.shown(principal, run.id);
  }
}
