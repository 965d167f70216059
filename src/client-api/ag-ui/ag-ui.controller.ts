import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../security/index.js';
import { AgUiService } from './ag-ui.service.js';

/** AG-UI 1.0, and its versions before. Its wire format is not part of our document. */
@Requires('chat')
@Controller('ag-ui')
export class AgUiController {
  constructor(private readonly agUi: AgUiService) {}

  /** Runs an agent, or continues its run, and streams the events. */
  @Post(':agent')
  @HttpCode(200)
  run(
    @CurrentPrincipal() principal: Principal,
    @Param('agent') agent: string,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<void> {
    return this.agUi.answer(principal, { agent, body, idempotencyKey }, reply);
  }
}
