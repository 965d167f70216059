import { NotFoundException } from '@nestjs/common';
import { ApplicationConfig, type ExternalContextCreator, type ModulesContainer, Reflector } from '@nestjs/core';
import createFastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import {
  type McpEndpointConfig,
  mcpServerConfig,
  serverConfig,
  type ServerConfig,
} from '../../config/namespaces/index.js';
import { AppError, ProblemFilter } from '../../errors/index.js';
import { containerOf, createRouter } from '../../kernel/nest/nest-internals.js';
import { AccessGuard, assertSameSite, NO_BROWSER_SESSIONS, RequestAuthenticator } from '../../security/index.js';
import { AccessLogService } from '../../security/access-log/index.js';
import { addHttpRules, fastifyOptions, recordRefusals } from '../http-rules.js';
import type { ServiceLookup } from '../json-body.parser.js';
import { createValidationPipe } from '../validation.pipe.js';
import { type HostAuthenticator, isPart, isSelected, type Mount } from './mount.js';
import type { HostExchange } from './host-exchange.js';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** The part of Nest's adapter of Fastify that its router uses, for selected routes. */
class RouteAdapter {
  private readonly known: string[] = [];

  constructor(
    private readonly fastify: FastifyInstance,
    private readonly prefix: string,
    private readonly selected: readonly string[] | undefined,
  ) {}

  /** @throws AppError `CONFIG_INVALID` for a selection without a route */
  assertSelected(name: string): void {
    const unknown = this.selected?.find((entry) => !this.known.some((route) => isPart(route, entry)));
    if (unknown === undefined) return;
    const message = `\`routes\` of ${name} has "${unknown}", which selects none of: ${this.known.join(', ')}.`;
    throw new AppError('CONFIG_INVALID', message);
  }

  get = (path: string, handler: Handler): void => this.add('GET', path, handler);
  post = (path: string, handler: Handler): void => this.add('POST', path, handler);
  put = (path: string, handler: Handler): void => this.add('PUT', path, handler);
  patch = (path: string, handler: Handler): void => this.add('PATCH', path, handler);
  delete = (path: string, handler: Handler): void => this.add('DELETE', path, handler);

  reply(reply: FastifyReply, body: unknown, status?: number): unknown {
    if (status !== undefined) reply.status(status);
    return reply.send(body);
  }

  status(reply: FastifyReply, code: number): FastifyReply {
    return reply.status(code);
  }

  setHeader(reply: FastifyReply, name: string, value: string): FastifyReply {
    return reply.header(name, value);
  }

  private add(method: string, url: string, handler: Handler): void {
    const route = `${method} ${url.slice(this.prefix.length + 1)}`;
    this.known.push(route);
    if (isSelected(route, this.selected)) this.fastify.route({ method, url, handler: withParameters(handler) });
  }
}

/** As Nest's adapter: a path with an empty parameter is not found. */
function withParameters(handler: Handler): Handler {
  return (request, reply) => {
    const values = Object.values(request.params as Readonly<Record<string, string>>);
    return values.includes('') ? reply.callNotFound() : handler(request, reply);
  };
}

/**
 * Restores bodies that a parser of the host has read already: from its raw body, else from its value. Numbers that the
 * parser has changed stay so.
 */
function addReadBodies(server: FastifyInstance, authenticator: HostAuthenticator): void {
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const body = request.raw.readableDidRead ? bodyOf(authenticator.callOf(request.raw)?.request) : undefined;
    if (body === undefined) return done(null, payload);
    request.headers = { 'content-encoding': undefined, 'content-length': String(body.length) };
    done(null, Object.assign(Readable.from([body], { objectMode: false }), { receivedEncodedLength: body.length }));
  });
}

function bodyOf({ body, rawBody }: Readonly<Record<string, unknown>> = {}): Buffer | undefined {
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  return body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The parts of the host that the routes need. */
interface HostParts {
  readonly authenticator: HostAuthenticator;
  readonly contexts: ExternalContextCreator;
  /** The module whose providers are the controllers. */
  readonly module: NonNullable<ReturnType<ModulesContainer['get']>>;
  readonly find: ServiceLookup;
}

/**
 * Serves the controllers of a mount as the server does, on a Fastify instance of their own without a listener. The global
 * enhancers are those of the server.
 */
export class RouteServer {
  private constructor(private readonly server: FastifyInstance) {}

  /** @throws AppError `CONFIG_INVALID` for a selected route that does not exist */
  static async open(mount: Mount, host: HostParts): Promise<RouteServer> {
    const problems = new ProblemFilter();
    const server = createFastify(fastifyOptions(host.find<ServerConfig>(serverConfig.KEY), problems));
    const callers = new RequestAuthenticator(host.authenticator, NO_BROWSER_SESSIONS);
    addHooks(server, host, callers);
    addHttpRules(server, (token) => (token === RequestAuthenticator ? callers : host.find(token)) as never, problems);
    server.setErrorHandler((error, _request, reply) => problems.answer(error, reply));
    server.setNotFoundHandler(({ method, originalUrl }, reply) =>
      problems.answer(new NotFoundException(`Cannot ${method} ${originalUrl}`), reply),
    );
    addRoutes(server, mount, { ...host, callers, problems });
    await server.ready();
    return new RouteServer(server);
  }

  /** @param url path and query, as the server has them */
  handle({ raw, response }: HostExchange, url: string): void {
    // Logs of the host name the URL that the client requested.
    (raw as { originalUrl?: string | undefined }).originalUrl ??= raw.url;
    raw.url = url;
    this.server.routing(raw, response);
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

function addHooks(server: FastifyInstance, { authenticator, find }: HostParts, callers: RequestAuthenticator): void {
  const { allowedOrigins } = find<McpEndpointConfig>(mcpServerConfig.KEY);
  addReadBodies(server, authenticator);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  server.addHook('onSend', async ({ raw }, reply) => {
    const location = reply.getHeader('location');
    const base = authenticator.callOf(raw)?.base ?? '';
    if (typeof location === 'string' && location.startsWith('/api/'))
      reply.header('location', base + location.slice(4));
  });
  recordRefusals(server, find(AccessLogService), callers);
  server.addHook('onRequest', async (request) => assertSameSite(request, allowedOrigins));
}

interface Routing extends HostParts {
  readonly callers: RequestAuthenticator;
  readonly problems: ProblemFilter;
}

function addRoutes(server: FastifyInstance, { name, surface, routes }: Mount, host: Routing): void {
  const config = new ApplicationConfig();
  const endpoint = host.find<McpEndpointConfig>(mcpServerConfig.KEY);
  config.useGlobalGuards(new AccessGuard(host.callers, { isOpen: false }, new Reflector(), endpoint));
  config.useGlobalPipes(createValidationPipe());
  config.useGlobalFilters(host.problems);
  const adapter = new RouteAdapter(server, surface.prefix, routes);
  const router = createRouter(containerOf(host.contexts), adapter, config);
  const { providers, token } = host.module;
  const wrappers = surface.controllers.map((controller) => [controller, providers.get(controller)!] as const);
  router.registerRouters(new Map(wrappers) as never, token, surface.prefix, '', adapter as never);
  adapter.assertSelected(name);
}
