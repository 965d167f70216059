import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../../security/index.js';
import { invalid } from '../../client-conversation.js';
import { ResponseAdminService } from './response-admin.service.js';
import { ResponseService } from './response.service.js';

/** OpenAI's Responses: a response is a part of a run, up to its end or its wait for the client. */
@Requires('chat')
@Controller('v1/responses')
export class ResponsesController {
  constructor(
    private readonly responses: ResponseService,
    private readonly admin: ResponseAdminService,
  ) {}

  /** Answers a conversation by an agent or a workflow. */
  @Post()
  @HttpCode(200)
  create(
    @CurrentPrincipal() principal: Principal,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('idempotency-key') idempotencyKey?: string,
    @Headers('x-session-id') sessionId?: string,
  ): Promise<void> {
    return this.responses.create(principal, body, { idempotencyKey, sessionId }, reply);
  }

  /** Agents count the tokens of a request only when they call their model. */
  @Post('input_tokens')
  countTokens(): never {
    return this.admin.unsupported('POST /v1/responses/input_tokens');
  }

  /** Agents compact their context themselves. */
  @Post('compact')
  compact(): never {
    return this.admin.unsupported('POST /v1/responses/compact');
  }

  /** A stored response, or its events after one of them. */
  @Requires('runs:read')
  @Get(':id')
  async get(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() { stream, starting_after: after }: { readonly stream?: string; readonly starting_after?: string },
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (stream !== 'true') return void (await reply.send(await this.responses.get(principal, id)));
    const startingAfter = after === undefined ? undefined : Number(after);
    if (startingAfter !== undefined && !(Number.isInteger(startingAfter) && startingAfter >= 0))
      throw invalid('starting_after', 'must be the sequence_number of an event', after);
    await this.responses.follow(principal, id, startingAfter, reply);
  }

  /** Deletes the journal of the run of a response. */
  @Requires('runs:write')
  @Delete(':id')
  remove(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<object> {
    return this.admin.remove(principal, id);
  }

  /** Cancels the run of a response. */
  @Requires('runs:write')
  @Post(':id/cancel')
  @HttpCode(200)
  cancel(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<object> {
    return this.admin.cancel(principal, id);
  }

  /** The items that the request contained, after those of earlier responses. */
  @Requires('runs:read')
  @Get(':id/input_items')
  inputItems(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<object> {
    return this.admin.inputItems(principal, id);
  }
}
