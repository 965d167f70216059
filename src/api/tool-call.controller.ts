import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type DirectCallRequest, DirectCallService } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { RunHandle } from '../run/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { clientWait, markReplay, parseIdempotencyKey } from './client-request.js';
import { NamePipe } from './name.pipe.js';
import { ToolCallAnswerDto, ToolCallDto } from './tool-call.dto.js';

/** @param body validated. @param key the `Idempotency-Key`. @throws AppError `VALIDATION_FAILED` for an invalid key */
function toDirectCall(tool: string, body: ToolCallDto, key: string | undefined): DirectCallRequest {
  const idempotency = parseIdempotencyKey(key, `tools/${tool}/call`, body);
  const { arguments: args, sessionId, deadlineMs } = body;
  return {
    ...(args !== undefined && { arguments: args }),
    ...(sessionId !== undefined && { sessionId }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(idempotency && { idempotency }),
  };
}

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
    const answer = await this.calls.call(principal, name, toDirectCall(name, body, key), {
      onStart,
      wait: clientWait(reply, key),
    });
    const isOpen = answer.status === 'waiting' || answer.status === 'queued';
    reply.status(isOpen ? 202 : 200);
    return answer;
  }
}
