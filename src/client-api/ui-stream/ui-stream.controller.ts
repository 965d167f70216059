import { Body, Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../security/index.js';
import { UiStreamService } from './ui-stream.service.js';

/** The UI message stream of the AI SDK. Its wire format is the AI SDK's, and not part of our document. */
@Requires('chat')
@Controller('agent/ui')
export class UiStreamController {
  constructor(private readonly service: UiStreamService) {}

  /** Answers a chat of `useChat`. */
  @Post()
  @HttpCode(200)
  chat(
    @CurrentPrincipal() principal: Principal,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
  ): Promise<void> {
    return this.service.answer(principal, body, { idempotencyKey }, reply);
  }

  /** Streams the open run of a chat again. */
  @Get(':id/stream')
  resume(
    @CurrentPrincipal() principal: Principal,
    @Param('id') chatId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.service.resume(principal, chatId, reply);
  }
}
