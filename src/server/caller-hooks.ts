import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { mcpServerConfig, type McpEndpointConfig, serverConfig, type ServerConfig } from '../config/index.js';
import { AccessLogService, assertLocal, KeyUseRegistry, RequestAuthenticator } from '../security/index.js';

/** Maximum records of unknown callers per second, so that a flood of them displaces no other records. */
const MAX_UNKNOWN = 10;

/** Our response headers that a page of another origin may read. */
const EXPOSED_HEADERS = [
  'Location',
  'Retry-After',
  'X-Run-Id',
  'X-Request-Id',
  'Idempotent-Replayed',
  'Mcp-Session-Id',
];

/**
 * Answers pages of `CORS_ORIGINS`, records refused requests, and protects a server without keys, also on routes without a
 * guard such as `/docs`.
 */
export async function addCallerHooks(app: NestFastifyApplication): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const { corsOrigins } = app.get<ServerConfig>(serverConfig.KEY);
  if (corsOrigins.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    // Registered before the other hooks, so that a page can read their errors.
    await fastify.register(cors, { origin: [...corsOrigins], exposedHeaders: EXPOSED_HEADERS, methods: METHODS });
  }
  recordRefusals(fastify, app.get(AccessLogService), app.get(RequestAuthenticator));
  const use = app.get(KeyUseRegistry);
  const { allowedOrigins } = app.get<McpEndpointConfig>(mcpServerConfig.KEY);
  fastify.addHook('onRequest', async (request) => {
    if (use.isOpen) assertLocal(request, allowedOrigins);
  });
}

/** Records responses with 401 and 403 in the access log. */
export function recordRefusals(
  fastify: FastifyInstance,
  access: AccessLogService,
  authenticator: RequestAuthenticator,
): void {
  const mayRecord = pace(MAX_UNKNOWN);
  fastify.addHook('onResponse', (request, { statusCode }, done) => {
    if (statusCode === 401 || statusCode === 403) {
      const [path = ''] = request.url.split('?', 1);
      // An unknown caller has no tenant, and its address as id.
      const caller =
        authenticator.found(request) ?? (mayRecord() ? { id: request.ip, tenant: '', roles: [] } : undefined);
      if (caller) access.record(caller, 'refuse', 'route', `${request.method} ${path}`);
    }
    done();
  });
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @returns a function that permits up to `max` events in each second */
function pace(max: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return count <= max;
  };
}
