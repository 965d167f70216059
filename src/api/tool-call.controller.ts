import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DirectCallService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { RunHandle } from '../run/index.js';
import { AccessLogService, CurrentPrincipal, Requires } from '../security/index.js';
import { ToolCallAnswerDto, ToolCallDto } from './tool-call.dto.js';
import { toDirectCall } from './tool-call.mapper.js';
import { markReplay } from './idempotent-replay.mapper.js';
import { NamePipe } from './name.pipe.js';

@Requires('tools:call')
@Controller('tools')
export class ToolCallController {
  constructor(
    private readonly calls: DirectCallService,
    private readonly access: AccessLogService,
  ) {}

  /**
   * Calls a tool and returns the outcome. The call is a run of its own. 202 if it waits for a decision. An
   * `Idempotency-Key` makes a repeated request return the same call.
   */
  @Post(':name/call')
  @HttpCode(200)
  async call(
    @CurrentPrincipal() principal: Principal,
    @Param('name', NamePipe) name: string,
    @Body() body: ToolCallDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<ToolCallAnswerDto> {
    const onStart = (run: RunHandle): void => {
      if (run.kind !== 'replayed') this.access.record(principal, 'call', 'tool', name);
      markReplay(reply, run);
      reply.header('location', `/api/runs/${run.id}`);
    };
    const answer = await this.calls.call(principal, name, toDirectCall(name, body, key), { onStart });
    const isOpen = answer.status === 'waiting' || answer.status === 'queued';
    reply.status(isOpen ? 202 : 200);
    return answer;
  }
}
