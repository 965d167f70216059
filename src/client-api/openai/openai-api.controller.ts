import { Body, Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../security/index.js';
import { ChatCompletionService } from './chat-completion.service.js';
import { type ListedModel, type ModelList, ModelListService } from './model-list.service.js';

/** OpenAI's API: agents and workflows are its models. Its wire format is OpenAI's, and not part of our document. */
@Requires('chat')
@Controller('v1')
export class OpenAiApiController {
  constructor(
    private readonly completions: ChatCompletionService,
    private readonly models: ModelListService,
  ) {}

  /** The agents and workflows as models. */
  @Get('models')
  list(): ModelList {
    return this.models.list();
  }

  /** An agent or a workflow as a model. */
  @Get('models/:model')
  model(@Param('model') model: string): ListedModel {
    return this.models.get(model);
  }

  /** Answers a conversation by an agent or a workflow. */
  @Post('chat/completions')
  @HttpCode(200)
  chat(
    @CurrentPrincipal() principal: Principal,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
    @Headers('x-session-id') sessionId?: string,
  ): Promise<void> {
    return this.completions.answer(principal, body, { idempotencyKey, sessionId }, reply);
  }
}
