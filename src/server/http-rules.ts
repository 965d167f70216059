import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  type McpEndpointConfig,
  mcpServerConfig,
  type ServerConfig,
  serverConfig,
} from '../config/namespaces/index.js';
import { AppError, loadPackage, type ProblemFilter } from '../errors/index.js';
import { fieldMistake, newId } from '../kernel/index.js';
import { answerFault, MCP_PATH } from '../mcp-server/index.js';
import { assertLocal, KeyUseRegistry, RequestAuthenticator } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { withTraceParent } from '../telemetry/index.js';
import { addBodyHooks, parseJsonBody, type ServiceLookup } from './json-body.parser.js';

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
    const { default: cors } = await loadPackage('@fastify/cors', 'CORS_ORIGINS', () => import('@fastify/cors'));
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

/** Closes the connection of each response from the start of a shutdown, so that the next request reaches another server. */
export function addDrainHooks(
  fastify: FastifyInstance,
  runs: { readonly isClosing: boolean },
  listener: { readonly isRetiring: boolean },
): void {
  const closeConnection = ({ raw }: FastifyReply) => {
    if ((runs.isClosing || listener.isRetiring) && !raw.headersSent) raw.setHeader('connection', 'close');
  };
  fastify.addHook('onRequest', (_request, reply, done) => {
    closeConnection(reply);
    done();
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    closeConnection(reply);
    done();
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

/** The part of `HttpExceptionFilter` that answers. */
interface Problems {
  answer(thrown: unknown, reply: FastifyReply): void;
}

/**
 * Answers a request without `Host` with 400, and a known path with another method with 405 and `Allow`, before the body
 * is read. Call it before the routes are added.
 */
function refuseWrongRequests(fastify: FastifyInstance, problems: Problems): void {
  const routes: { readonly methods: readonly string[]; readonly path: RegExp }[] = [];
  fastify.addHook('onRoute', ({ method, url }) => {
    const source = url
      .replace(/\/$/, '')
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+');
    routes.push({ methods: [method].flat(), path: new RegExp(`^${source}/?$`) });
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      reply.header('connection', 'close');
      return problems.answer(new AppError('REQUEST_REFUSED', 'The header Host is missing.'), reply);
    }
    if (!request.is404) return done();
    const [path = ''] = request.url.split('?', 1);
    const methods = new Set(routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods));
    if (methods.size === 0 || methods.has(request.method)) return done();
    const allowed = [...methods].toSorted().join(', ');
    reply.header('allow', allowed);
    const detail = `${path} has no method ${request.method}; it has ${allowed}.`;
    problems.answer(new AppError('METHOD_NOT_ALLOWED', detail), reply);
  });
}

/** Answers a request that is not valid HTTP. Node closes the connection, as the end of the request is unknown. */
export function answerInvalidHttp(error: FastifyError & { readonly code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, code, detail] = FAILURES[error.code] ?? INVALID;
  const title = STATUS_CODES[status] ?? '';
  const request_id = newId();
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code, request_id });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
        `X-Request-Id: ${request_id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

type Failure = readonly [status: number, code: string, detail: string];

const INVALID: Failure = [400, 'REQUEST_REFUSED', 'The request is not valid HTTP/1.1.'];
const FAILURES: Readonly<Record<string, Failure>> = {
  HPE_HEADER_OVERFLOW: [431, 'REQUEST_REFUSED', 'The headers and the URL are larger than 16 KiB together.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The headers of the request did not arrive in time.'],
};

/** Maximum length of an id in a path, in UTF-16 units: a session id has 128 characters of up to two. */
const MAX_ID_LENGTH = 256;

/** Options of the Fastify instance of the server, and of those whose routes a host mounts. */
export function fastifyOptions({ bodyLimitBytes }: ServerConfig, problems: ProblemFilter) {
  return {
    bodyLimit: bodyLimitBytes,
    // Never the client's own id: a client could imitate the log lines of another client's request.
    genReqId: () => newId(),
    routerOptions: { maxParamLength: MAX_ID_LENGTH, ignoreTrailingSlash: true },
    frameworkErrors: (error: Error, _request: unknown, reply: FastifyReply) => problems.answer(error, reply),
  };
}

/** JSON, also in the type of A2A. */
const JSON_TYPES = ['application/json', 'application/a2a+json'];
/** Routes whose clients read errors of the body as JSON-RPC. */
const RPC_ROUTES: readonly string[] = [`/${MCP_PATH}`, '/a2a/:agent'];

/**
 * The rules for requests and bodies, which are the same in the server and in a host. Call it before the routes are added.
 */
export function addHttpRules(fastify: FastifyInstance, find: ServiceLookup, problems: ProblemFilter): void {
  fastify.removeAllContentTypeParsers();
  fastify.addHook('onRoute', (route) => {
    if (RPC_ROUTES.includes(route.url)) route.errorHandler = answerFault;
  });
  refuseWrongRequests(fastify, problems);
  // Runs that a request starts are a part of its trace.
  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    const { traceparent } = headers;
    if (typeof traceparent === 'string') withTraceParent(traceparent, done);
    else done();
  });
  addBodyHooks(fastify, find);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.url?.includes('%00')) problems.answer(nulInUrl(request), reply);
    else done();
  });
  const { bodyLimit } = fastify.initialConfig;
  fastify.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer', bodyLimit: bodyLimit! }, parseJsonBody);
}

/** No id contains NUL, and databases reject it differently: answer with a validation error. */
function nulInUrl({ params, query }: FastifyRequest): AppError {
  const values = Object.entries({ ...(query as object), ...(params as object) });
  const places = values.filter(([, value]) => String(value).includes('\0'));
  const message = 'must not contain a NUL character (%00)';
  const errors = places.map(([name, value]) => fieldMistake(name, message, 'isWithoutNul', value));
  return new AppError('VALIDATION_FAILED', 'The URL contains a NUL character (%00); no id contains one.', {
    details: { errors: errors.length > 0 ? errors : [fieldMistake('path', message, 'isWithoutNul', '')] },
  });
}
