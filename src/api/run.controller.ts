import { Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { AnsweredNodeDto, RunAnswerDto, RunNodeQueryDto } from './run-answer.dto.js';
import { RunStreamService } from './run-stream.service.js';

@Controller('runs')
export class RunController {
  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
    private readonly streams: RunStreamService,
    private readonly access: AccessLogService,
  ) {}

  /** The run so far, with its steps and tool results. */
  @Requires('runs:read')
  @Get(':id')
  async get(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RunAnswerDto> {
    const answer = await this.agents.shown(principal, id);
    this.access.record(principal, 'read', 'run', id);
    return answer;
  }

  /** One node of a workflow's run with its whole output, also when the answer of the run has a link to it. */
  @Requires('runs:read')
  @Get(':id/node')
  async node(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { name }: RunNodeQueryDto,
  ): Promise<AnsweredNodeDto> {
    const node = await this.agents.node(principal, id, name);
    this.access.record(principal, 'read', 'run', id);
    return node;
  }

  /** The run's events as server-sent events: recorded events after `Last-Event-ID`, then live events. */
  @Requires('runs:read')
  @Get(':id/events')
  events(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
    @Headers('last-event-id') lastEventId?: string,
  ): Promise<void> {
    return this.streams.follow(principal, id, lastEventId, reply);
  }

  /** Requests the cancellation of the run; its events report when it is cancelled. */
  @Requires('runs:write')
  @Post(':id/cancel')
  @HttpCode(202)
  async cancel(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RunAnswerDto> {
    await this.runs.cancel(principal, id);
    return this.agents.shown(principal, id);
  }
}
