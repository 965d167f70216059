import type { Type } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { agentConfig, type AgentConfig, serverConfig, type ServerConfig } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { RequestAuthenticator, type Scope } from '../security/index.js';

/** Returns a service of the application. */
export type ServiceLookup = <T>(token: Type<T> | string) => T;

/** Maximum number of JSON values in a body. */
const MAX_VALUES = 100_000;
const BASE64_GROWTH = 4 / 3;
const IMPORT_ROUTE = '/api/sessions/import';
/** Body limits of a session import, which contains a whole session. */
const IMPORT_LIMIT_BYTES = 64 * 1024 * 1024;
const IMPORT_MAX_VALUES = 2_000_000;
/** Node ends a request this long after `REQUEST_TIMEOUT_MS`, in ms, so that the client gets our 408 first. */
const MARGIN_MS = 10_000;
/** Time without a byte of the body after which the server stops reading it, in ms. */
const MAX_STALL_MS = 15_000;

/** Routes whose bodies can contain images, in base64. */
const IMAGE_ROUTES: readonly string[] = ['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'];

export function acceptsImages({ routeOptions }: FastifyRequest): boolean {
  return IMAGE_ROUTES.includes(routeOptions.url ?? '');
}

export function maxValues({ routeOptions }: FastifyRequest): number {
  return routeOptions.url === IMPORT_ROUTE ? IMPORT_MAX_VALUES : MAX_VALUES;
}

/** The scopes that admit a body above `HTTP_BODY_LIMIT_BYTES`; the route's guard checks all other scopes after the body. */
function largeBodyScopes({ routeOptions }: FastifyRequest): readonly Scope[] | undefined {
  if (routeOptions.url === IMPORT_ROUTE) return ['sessions:write'];
  return IMAGE_ROUTES.includes(routeOptions.url ?? '') ? ['chat'] : undefined;
}

/**
 * Limits the bodies of requests by route, caller and time. A caller without a valid key cannot make the server read a
 * body: no public route has one.
 */
export function addBodyHooks(fastify: FastifyInstance, find: ServiceLookup): void {
  const authenticator = find(RequestAuthenticator);
  const { requestTimeoutMs, bodyLimitBytes } = find<ServerConfig>(serverConfig.KEY);
  const { maxImageBytes } = find<AgentConfig>(agentConfig.KEY);
  // Also for a body that is not read, of a refused request. Node checks connections every 30 s.
  fastify.server.requestTimeout = requestTimeoutMs + MARGIN_MS;
  const imageLimit = bodyLimitBytes + Math.ceil(maxImageBytes * BASE64_GROWTH);
  fastify.addHook('onRoute', (route) => {
    if (route.url === IMPORT_ROUTE) route.bodyLimit = Math.max(bodyLimitBytes, IMPORT_LIMIT_BYTES);
    if (IMAGE_ROUTES.includes(route.url)) route.bodyLimit = imageLimit;
  });
  fastify.addHook('onRequest', async (request, reply) => {
    if (!hasBody(request)) return;
    try {
      await authenticator.admit(request, largeBodyScopes(request));
    } catch (error) {
      // Else Node would receive the rest of the body for the next request on this connection.
      if (!isSmall(request, bodyLimitBytes)) reply.header('connection', 'close');
      throw error;
    }
  });
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (hasBody(request)) limitTime(request, reply, requestTimeoutMs);
    done(null, payload);
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function isSmall({ headers }: FastifyRequest, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= limit;
}

/** Ends the reading of a body that is late or stalled, with status 408. */
function limitTime({ raw }: FastifyRequest, reply: FastifyReply, timeoutMs: number): void {
  const fail = (message: string): void => {
    if (raw.listenerCount('error') === 0) return;
    reply.header('connection', 'close');
    raw.emit('error', new AppError('REQUEST_TIMEOUT', message));
  };
  const total = setTimeout(
    () => fail(`The body did not arrive within ${timeoutMs} ms: send a smaller one, or raise REQUEST_TIMEOUT_MS.`),
    timeoutMs,
  );
  const stall = setTimeout(
    () => fail(`No byte of the body arrived within ${MAX_STALL_MS} ms: send the request again.`),
    MAX_STALL_MS,
  );
  const progress = (): unknown => stall.refresh();
  const release = (): void => {
    clearTimeout(total);
    clearTimeout(stall);
    raw.off('data', progress);
  };
  raw.on('data', progress).once('end', release).once('error', release).once('close', release);
  reply.raw.once('finish', release);
}
