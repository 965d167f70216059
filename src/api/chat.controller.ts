import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../common/index.js';
import { CurrentPrincipal } from '../security/index.js';
import { ChatRequestDto } from './chat-request.dto.js';
import { ChatService } from './chat.service.js';
import { ChatAnswerDto } from './run-answer.dto.js';

@Controller('agent')
export class ChatController {
  constructor(private readonly chats: ChatService) {}

  /** Asks an agent and waits for its answer. 202 when the run waits for a decision. */
  @Post('chat')
  @HttpCode(200)
  chat(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChatRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChatAnswerDto> {
    return this.chats.answer(principal, body, reply);
  }

  /** Asks an agent and streams what happens as server-sent events. */
  @Post('chat/stream')
  stream(
    @CurrentPrincipal() principal: Principal,
    @Body() body: ChatRequestDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.chats.stream(principal, body, reply);
  }
}
