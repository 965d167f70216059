import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../common/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { BackgroundRequestDto } from './background-request.dto.js';
import { ChatRequestDto } from './chat-request.dto.js';
import { ChatService } from './chat.service.js';
import { ChatAnswerDto, RunAnswerDto } from './run-answer.dto.js';

@Requires('chat')
@Controller('agent')
export class ChatController {
  constructor(private readonly chats: ChatService) {}

  /** Asks an agent and waits for its answer. 202 when the run waits for a decision. An `Idempotency-Key` makes a repetition the same run. */
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

  /** Asks an agent and streams what happens as server-sent events. An `Idempotency-Key` makes a repetition the same run. */
  @Post('chat/stream')
  stream(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChatRequestDto,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') key?: string,
  ): Promise<void> {
    return this.chats.stream(principal, body, key, reply);
  }

  /** Asks an agent without waiting: the run goes on in the background. An `Idempotency-Key` makes a repetition the same run. */
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
