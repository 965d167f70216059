import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../common/index.js';
import { AppConfig, isLoopback } from '../config/index.js';

/** Lets only pages of this machine, of this server and of configured origins call: others could act for who reads them. */
@Injectable()
export class McpOriginGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { isEnabled, allowedOrigins } = this.config.mcpServer;
    if (!isEnabled) throw new AppError('NOT_FOUND', 'MCP is switched off here (MCP_SERVER=off).');
    const { origin, host } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    if (origin === undefined || isAllowed(origin, host, allowedOrigins)) return true;
    const message = 'Pages of this origin may not call: an operator can name it in MCP_ALLOWED_ORIGINS.';
    throw new AppError('FORBIDDEN', message);
  }
}

/** An opaque origin, `null`, is nobody's. */
function isAllowed(origin: string, host: string | undefined, allowed: readonly string[]): boolean {
  const url = URL.parse(origin);
  if (!url || url.origin === 'null') return allowed.includes(origin);
  return isLoopback(url.hostname) || url.host === host || allowed.includes(url.origin);
}
