import { NotFoundException } from '@nestjs/common';
import { ApplicationConfig, type ExternalContextCreator, type ModulesContainer, Reflector } from '@nestjs/core';
import fastify, { type FastifyInstance } from 'fastify';
import { mcpServerConfig, type McpEndpointConfig, serverConfig, type ServerConfig } from '../../config/index.js';
import { ProblemFilter } from '../../errors/index.js';
import { containerOf, createRouter } from '../../kernel/nest-internals.js';
import { AccessGuard, AccessLogService, assertSameSite, RequestAuthenticator } from '../../security/index.js';
import { recordRefusals } from '../caller-hooks.js';
import { addHttpRules, fastifyOptions } from '../http-rules.js';
import type { ServiceLookup } from '../request-body-hooks.js';
import { createValidationPipe } from '../validation.pipe.js';
import type { HostAuthenticator } from './host-authenticator.js';
import type { HostExchange } from './host-exchange.js';
import type { Mount } from './mount.types.js';
import { addReadBodies } from './read-bodies.js';
import { RouteAdapter } from './route-adapter.js';

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
    const server = fastify(fastifyOptions(host.find<ServerConfig>(serverConfig.KEY), problems));
    const callers = new RequestAuthenticator(host.authenticator);
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
