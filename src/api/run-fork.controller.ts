import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { RunAnswerDto } from './run-answer.dto.js';
import { ForkRequestDto } from './run-fork.dto.js';
import { RunForkRequestService } from './run-fork-request.service.js';

@Requires('runs:write')
@Controller('runs')
export class RunForkController {
  constructor(
    private readonly agents: AgentService,
    private readonly forks: RunForkRequestService,
    private readonly access: AccessLogService,
  ) {}

  /** Forks a run: starts a new background run from a step of this one, with optional edits. */
  @Post(':id/fork')
  @HttpCode(202)
  async fork(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ForkRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunAnswerDto> {
    const forked = await this.forks.fork(principal, id, body);
    this.access.record(principal, 'fork', 'run', id);
    reply.header('location', `/api/runs/${forked}`);
    return this.agents.shown(principal, forked);
  }
}
