import { createHash } from 'node:crypto';
import { Controller, Get, Headers, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AgentRegistry } from '../../agent/definition/index.js';
import { serverConfig, type ServerConfig } from '../../config/namespaces/index.js';
import { KeyUseRegistry, Public, Requires } from '../../security/index.js';
import { toAgentCard, toFormerCard } from './agent-card.mapper.js';

/** Time for which a client may use a card without asking again, in seconds. */
const MAX_AGE_S = 60;

const PATHS = ['.well-known', 'a2a/:agent/.well-known'];

/** Serves the cards of agents, where keys are used to callers with a key only. */
@Requires('chat', 'runs:read')
@Controller(PATHS)
export class AgentCardController {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly keys: KeyUseRegistry,
    @Inject(serverConfig.KEY) private readonly server: ServerConfig,
  ) {}

  /** The card of an agent; without a name in the path, of the default agent. */
  @Get('agent-card.json')
  card(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('agent') agent?: string,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    return this.send(agent, { request, reply, version });
  }

  private async send(agent: string | undefined, { request, reply, version }: CardRequest): Promise<void> {
    const { definition } = this.agents.get(agent);
    const place = {
      url: `${request.protocol}://${request.host}${this.server.prefix}/a2a/${encodeURIComponent(definition.name)}`,
      needsKey: await this.keys.areNeeded(),
    };
    const card = JSON.stringify(isFormer(version) ? toFormerCard(definition, place) : toAgentCard(definition, place));
    const etag = `"${createHash('sha256').update(card).digest('base64url')}"`;
    reply
      .header('etag', etag)
      .header('cache-control', `private, max-age=${MAX_AGE_S}`)
      .header('vary', 'A2A-Version')
      .header('content-type', 'application/json; charset=utf-8');
    if (request.headers['if-none-match'] === etag) return void (await reply.status(304).send());
    await reply.send(card);
  }
}

interface CardRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly version: string | undefined;
}

function isFormer(version: string | undefined): boolean {
  return version?.startsWith('0.') === true;
}

/** The same for all callers. */
@Public()
@Controller(PATHS)
export class PublicAgentCardController extends AgentCardController {}
