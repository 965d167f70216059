import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { parseIdempotencyKey } from './client-request.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { RunAnswerDto } from './run-answer.dto.js';
import { ForkRequestDto } from './run-fork.dto.js';
import { RunForkRequestService } from './run-fork-request.service.js';

@Requires('runs:write')
@Controller('runs')
export class RunForkController {
  constructor(
    private readonly agents: AgentService,
    private readonly forks: RunForkRequestService,
    private readonly creations: IdempotentCreationService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Forks a run: starts a new background run from a step of this one, with optional edits. An `Idempotency-Key` makes a
   * repeated request return the same run.
   */
  @Post(':id/fork')
  @HttpCode(202)
  async fork(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() body: ForkRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<RunAnswerDto> {
    const request = parseIdempotencyKey(key, `runs/${id}/fork`, body);
    const answer = await this.creations.run(principal, request, reply, {
      create: async (forkId) => {
        await this.forks.fork(principal, id, body, forkId);
        this.access.record(principal, 'fork', 'run', id);
        return this.agents.shown(principal, forkId);
      },
      find: (forkId) => this.agents.shown(principal, forkId),
    });
    reply.header('location', `/api/runs/${answer.run_id}`);
    return answer;
  }
}
