import { Controller, Delete, Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../kernel/index.js';
import { CurrentPrincipal, Requires } from '../security/index.js';
import { McpEndpoint } from './mcp-endpoint.service.js';
import { McpOriginGuard } from './mcp-origin.guard.js';

/** Path of the MCP endpoint, outside of the API's prefix. */
export const MCP_PATH = 'mcp';

/** One of these scopes admits the caller; each method checks its own scope. */
@Requires('tools:call', 'chat', 'sessions:read', 'runs:read')
@UseGuards(McpOriginGuard)
@Controller(MCP_PATH)
export class McpEndpointController {
  constructor(private readonly endpoint: McpEndpoint) {}

  /** Handles a message of an MCP client (JSON-RPC); answers with JSON or an event stream. See docs/mcp-server.md. */
  @Post()
  post(@CurrentPrincipal() principal: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.endpoint.handle(principal, request, reply);
  }

  /** The notification stream of a session, for MCP clients before protocol 2026-07-28. */
  @Get()
  get(@CurrentPrincipal() principal: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.endpoint.handle(principal, request, reply);
  }

  /** Ends a session, for MCP clients before protocol 2026-07-28. */
  @Delete()
  delete(@CurrentPrincipal() principal: Principal, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.endpoint.handle(principal, request, reply);
  }
}
