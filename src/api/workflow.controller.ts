import { Body, Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { WorkflowRegistry } from '../workflow/index.js';
import { RunAnswerDto } from './run-answer.dto.js';
import { toWorkflowView, WorkflowRunService } from './workflow-run.service.js';
import { WorkflowDto, WorkflowListDto, WorkflowRunDto } from './workflow.dto.js';

@Controller('workflows')
export class WorkflowController {
  constructor(
    private readonly workflows: WorkflowRegistry,
    private readonly runs: WorkflowRunService,
  ) {}

  /** All workflows. */
  @Requires('tools:read')
  @Get()
  list(): WorkflowListDto {
    return { workflows: this.workflows.list().map(toWorkflowView) };
  }

  /** One workflow, with its graph. */
  @Requires('tools:read')
  @Get(':name')
  get(@Param('name') name: string): WorkflowDto {
    return toWorkflowView(this.workflows.get(name));
  }

  /**
   * Starts a workflow in the background or, with `wait`, until it ends or waits. 200 with a finished run, else 202. An
   * `Idempotency-Key` makes a repeated request return the same run.
   */
  @Requires('chat')
  @Post(':name/runs')
  @HttpCode(202)
  start(
    @CurrentPrincipal() principal: Principal,
    @Param('name') name: string,
    @Body() body: WorkflowRunDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<RunAnswerDto> {
    return this.runs.start(principal, { name, body, key }, reply);
  }
}
