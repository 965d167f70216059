import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService, type RunAnswer } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { RunHandle } from '../run/index.js';
import { WorkflowService } from '../workflow/index.js';
import { markReplay } from './idempotency.parser.js';
import type { WorkflowRunDto } from './workflow.dto.js';
import { toWorkflowStart } from './workflow.mapper.js';

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
