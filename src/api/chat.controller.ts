import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { BackgroundRequestDto } from './background-request.dto.js';
import { ChatRequestDto } from './chat-request.dto.js';
import { ChatService } from './chat.service.js';
import { ChatAnswerDto, RunAnswerDto } from './run-answer.dto.js';

@Requires('chat')
@Controller('agent')
export class ChatController {
  constructor(private readonly chats: ChatService) {}

  /**
   * Sends a message to an agent and returns the answer. 202 if the run waits for a decision. An `Idempotency-Key` makes
   * a repeated request return the same run.
   */
  @Post('chat')
  @HttpCode(200)
  chat(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChatRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<ChatAnswerDto> {
    return this.chats.answer(principal, body, key, reply);
  }

  /**
   * Sends a message to an agent and streams the run's events as server-sent events. An `Idempotency-Key` makes a
   * repeated request return the same run.
   */
  @Post('chat/stream')
  stream(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChatRequestDto,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<void> {
    return this.chats.stream(principal, body, key, reply);
  }

  /** Starts a run of an agent in the background. An `Idempotency-Key` makes a repeated request return the same run. */
  @Post('runs')
  @HttpCode(202)
  submit(
    @CurrentPrincipal() principal: Principal,
    @Body() body: BackgroundRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<RunAnswerDto> {
    return this.chats.submit(principal, body, key, reply);
  }
}
