import { Body, Controller, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { disconnectSignal } from '../../api/index.js';
import type { Principal } from '../../kernel/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { CurrentPrincipal, Requires } from '../../security/index.js';
import { A2aError } from './a2a.error.js';
import { A2aReplyService } from './a2a-reply.service.js';
import { A2aService } from './a2a.service.js';
import { versionOf } from './a2a-version.policy.js';
import { fromFormerRequest } from './former-version.mapper.js';
import { RpcForm, type RpcId } from './rpc-form.js';

interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

/** A2A over JSON-RPC. Its wire format is not part of our document. One of these scopes admits; each method checks its own. */
@Requires('chat', 'runs:read', 'runs:write')
@Controller('a2a')
export class A2aController {
  constructor(
    private readonly a2a: A2aService,
    private readonly replies: A2aReplyService,
  ) {}

  /** Performs an operation of A2A on an agent. */
  @Post(':agent')
  @HttpCode(200)
  rpc(
    @CurrentPrincipal() principal: Principal,
    @Param('agent') agent: string,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') header?: string,
    @Query('A2A-Version') parameter?: string,
  ): Promise<void> {
    const signal = disconnectSignal(reply);
    const form = new RpcForm(idOf(body));
    const perform = async () => {
      const version = versionOf(header, parameter);
      form.isFormer = version === '0.3';
      const given = toRequest(body);
      const { method, params } = form.isFormer ? fromFormerRequest(given.method, given.params) : given;
      return this.a2a.perform({ principal, agent, method, params }, signal);
    };
    return this.replies.send(reply, form, perform, signal);
  }
}

function idOf(body: unknown): RpcId {
  const id = isJsonObject(body) ? body['id'] : null;
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null;
}

/** @throws A2aError `INVALID_REQUEST` */
function toRequest(body: unknown): RpcRequest {
  const { jsonrpc, method, params } = isJsonObject(body) ? body : {};
  const id = idOf(body);
  if (jsonrpc !== '2.0' || typeof method !== 'string' || id === null)
    throw new A2aError('INVALID_REQUEST', 'The body must be one JSON-RPC 2.0 request with an id and a method.');
  return { id, method, params: params ?? {} };
}
