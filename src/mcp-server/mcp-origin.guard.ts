import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/index.js';
import { isLoopback, mcpServerConfig, type McpEndpointConfig } from '../config/namespaces/index.js';

/**
 * Admits pages of this machine, of this server and of configured origins only: other pages could act for their reader.
 */
@Injectable()
export class McpOriginGuard implements CanActivate {
  constructor(@Inject(mcpServerConfig.KEY) private readonly config: McpEndpointConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { isEnabled, allowedOrigins } = this.config;
    if (!isEnabled) throw new AppError('NOT_FOUND', 'The MCP server is disabled (MCP_SERVER=off).');
    const { origin, host } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    if (origin === undefined || isAllowed(origin, host, allowedOrigins)) return true;
    const message =
      'Pages of this origin may not call the MCP server: an operator can allow the origin in MCP_ALLOWED_ORIGINS.';
    throw new AppError('FORBIDDEN', message);
  }
}

/** The opaque origin `null` matches only an explicit entry. */
function isAllowed(origin: string, host: string | undefined, allowed: readonly string[]): boolean {
  const url = URL.parse(origin);
  if (!url || url.origin === 'null') return allowed.includes(origin);
  return isLoopback(url.hostname) || url.host === host || allowed.includes(url.origin);
}
