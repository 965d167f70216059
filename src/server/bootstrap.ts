import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LoggerService } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PinoLogger, Logger as ServerLogger } from 'nestjs-pino';
import { AppModule, type AppOptions, loadServer } from '../app.module.js';
import { isManagedWorker } from '../config/index.js';
import { serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { mountConsole } from '../console/index.js';
import { AppError, Log, ProblemFilter } from '../errors/index.js';
import { HealthPort } from '../health/index.js';
import { BootLog, logRequests } from '../logging/index.js';
import { MCP_PATH } from '../mcp-server/index.js';
import { mountOpenApi } from '../openapi/index.js';
import { RunAdmissionService, RunService } from '../run/index.js';
import { RequestAuthenticator } from '../security/index.js';
import { MetricRegistry, METRICS_TYPE } from '../telemetry/index.js';
import { type ToolDefinition, ToolRegistry } from '../tool/index.js';
import { DrainingAdapter } from './draining-adapter.js';
import { onEndSignal } from './end-signal.js';
import { addCallerHooks, addDrainHooks, addHttpRules, answerInvalidHttp, fastifyOptions } from './http-rules.js';
import { endSignals, endWhenStuck } from './process-end.js';
import { logStart } from './start-log.js';
import { mountStartPage } from './start-page.js';
import { followSupervisor, reportStart } from './supervisor/supervised-worker.js';
import { SupervisorLink } from './supervisor/supervisor-link.js';
import { withToolFiles } from './tool-files.loader.js';
import { logUnhandledErrors } from './unhandled-errors.js';
import { createValidationPipe } from './validation.pipe.js';

/** A path without a route, for requests outside of the prefix. */
const OUTSIDE = '/outside-of-the-prefix';

/** The URL as the routes expect it. @param prefix `HTTP_PREFIX`, such as `/jackdaw` */
export function withoutPrefix(url: string, prefix: string): string {
  if (!url.startsWith(prefix)) return OUTSIDE;
  const rest = url.slice(prefix.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : OUTSIDE;
}

/**
 * Adds the prefix to the `Location` of our resources, and redirects the prefix itself to the start page, whose links are
 * relative.
 */
export function addPrefix(fastify: FastifyInstance, prefix: string): void {
  if (prefix === '') return;
  fastify.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' && request.originalUrl === prefix) return reply.redirect(`${prefix}/`, 308);
  });
  fastify.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/api/')) reply.header('location', prefix + location);
  });
}

/** Serves the metrics at `/metrics` to callers with the scope `operate`: they are about all tenants. */
export function mountMetrics(app: NestFastifyApplication): void {
  const metrics = app.get(MetricRegistry, { strict: false });
  if (!metrics.isOn) return;
  const { link } = app.getHttpAdapter() as DrainingAdapter;
  const callers = app.get(RequestAuthenticator);
  app
    .getHttpAdapter()
    .getInstance()
    .get('/metrics', async (request, reply) => {
      await callers.admit(request, ['operate']);
      return reply
        .header('cache-control', 'no-store')
        .type(METRICS_TYPE)
        .send(await (link ? link.scrape() : metrics.text()));
    });
}

/** Converts a failure to listen on an address to an error with a remedy; returns other errors unchanged. */
export function toListenFailure(cause: unknown, { port, host }: Pick<ServerConfig, 'port' | 'host'>): unknown {
  const reason = reasonOf((cause as { code?: unknown } | null)?.code);
  if (!reason) return cause;
  return new AppError('CONFIG_INVALID', `The server cannot listen on port ${port} of ${host}: ${reason}.`, { cause });
}

function reasonOf(code: unknown): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is in use; stop the other program, or set another PORT (0 selects a free port)';
    case 'EACCES':
      return 'permission denied; set a PORT of 1024 or higher';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'it is not an address of this machine; set another HOST';
    default:
      return undefined;
  }
}

/**
 * Creates the application, ready to listen.
 * @param endsBySignal whether signals end the process, after a drain
 */
export async function createApp(options: AppOptions = {}, endsBySignal = true): Promise<NestFastifyApplication> {
  const problems = new ProblemFilter();
  // Fastify needs these before Nest creates the application.
  const loaded = loadServer(options);
  const { server } = loaded.config;
  const fastifyServer = {
    ...fastifyOptions(server, problems),
    trustProxy: toFastify(server.trustProxy),
    keepAliveTimeout: server.keepAliveMs,
    forceCloseConnections: true,
    clientErrorHandler: answerInvalidHttp,
    // A missing `Host` is refused as a problem instead.
    http: { requireHostHeader: false },
    ...(server.prefix !== '' && { rewriteUrl: ({ url = '' }) => withoutPrefix(url, server.prefix) }),
  };
  const link = endsBySignal ? SupervisorLink.open() : null;
  const adapter = new DrainingAdapter(fastifyServer, server.shutdownGraceMs, link);
  const whole = await withToolFiles(options);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...whole, config: loaded, recovery: 'manual' }),
    adapter,
    {
      logger: new BootLog(),
      bufferLogs: true,
      // Only JSON is read. A page of a foreign site can post forms and plain text without a preflight request, but not
      // JSON.
      bodyParser: false,
      abortOnError: false,
      forceCloseConnections: true,
    },
  );
  return closeOnFailure(app, async () => {
    await setUp(app, problems, options.logger);
    if (endsBySignal) endBySignal(app);
    if (link) followSupervisor(app, link);
  });
}

/** Fastify's types lack the number of proxies. */
function toFastify(trust: ServerConfig['trustProxy']) {
  if (typeof trust === 'number') return (_address: string, hop: number) => hop < trust;
  return typeof trust === 'boolean' ? trust : [...trust];
}

/** Serves until a signal ends the process. @throws AppError `CONFIG_INVALID` if it cannot listen on the address */
export async function serve(options: AppOptions = {}): Promise<NestFastifyApplication> {
  const app = await createApp(options);
  const { graceMs } = app.getHttpAdapter() as DrainingAdapter;
  const releases = [logUnhandledErrors(), endWhenStuck(app, graceMs)];
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onClose', (_instance, done) => {
      for (const release of releases) release();
      done();
    });
  return closeOnFailure(app, () => listen(app));
}

async function setUp(
  app: NestFastifyApplication,
  problems: ProblemFilter,
  logger: LoggerService | undefined,
): Promise<void> {
  app.useLogger(logger ?? app.get(ServerLogger));
  app.setGlobalPrefix('api', {
    exclude: [MCP_PATH, 'v1/{*path}', 'ag-ui/:agent', 'a2a/{*path}', '.well-known/agent-card.json'],
  });
  const adapter = app.getHttpAdapter() as DrainingAdapter;
  const fastify = adapter.getInstance();
  adapter.link?.siblings.addHook(fastify);
  const callers = app.get(RequestAuthenticator);
  const { prefix, httpLog: mode } = app.get<ServerConfig>(serverConfig.KEY);
  const principalOf = (request: FastifyRequest) => callers.found(request);
  logRequests(fastify, await app.resolve(PinoLogger), { mode, own: logger, principalOf });
  addPrefix(fastify, prefix);
  fastify.addHook('onListen', () => recover(app));
  addDrainHooks(fastify, app.get(RunAdmissionService, { strict: false }), adapter);
  await addCallerHooks(app);
  addHttpRules(fastify, (token) => app.get(token, { strict: false }), problems);
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(problems);
  mountStartPage(app);
  const { hasDocs, hasConsole } = app.get<ServerConfig>(serverConfig.KEY);
  if (hasConsole) mountConsole(fastify);
  mountMetrics(app);
  if (hasDocs) mountOpenApi(app, () => definitionsIn(app));
}

/** At a signal the server is not ready any more, before the hooks of modules, which may take time. */
function endBySignal(app: NestFastifyApplication): void {
  const adapter = app.getHttpAdapter() as DrainingAdapter;
  const admission = app.get(RunAdmissionService, { strict: false });
  const health = app.get(HealthPort, { strict: false });
  const drain = () => {
    admission.stop();
    health.drain();
    adapter.drain();
  };
  if (isManagedWorker()) adapter.countRequests();
  // By default Nest sends itself the signal again, and the exit code is not 0.
  else app.enableShutdownHooks(endSignals(), { useProcessExit: true });
  const end = (signal: NodeJS.Signals) => void endManagedWorker(app, drain, signal);
  const release = onEndSignal(isManagedWorker() ? end : drain, endSignals());
  adapter.getInstance().addHook('onClose', (_instance, done) => {
    release();
    done();
  });
}

/**
 * Ends a worker of pm2 or node:cluster. New connections go to the other workers at once. The worker first serves the requests
 * on the connections that it has, as a client may have sent one before it sees their end.
 */
async function endManagedWorker(app: NestFastifyApplication, drain: () => void, signal: NodeJS.Signals): Promise<void> {
  // Nest's type lacks the signal for the hooks.
  const closing: { close(signal: string): Promise<void> } = app;
  const adapter = app.getHttpAdapter() as DrainingAdapter;
  await adapter.retire(adapter.graceMs);
  drain();
  try {
    await closing.close(signal);
    process.exit(0);
  } catch (err) {
    new Log('Bootstrap').fatal({ err }, 'The stop failed; unfinished runs resume at the next start');
    process.exit(1);
  }
}

function definitionsIn(app: NestFastifyApplication): readonly ToolDefinition[] {
  const tools = app.get(ToolRegistry, { strict: false }).list();
  return tools.map(({ definition }) => definition);
}

async function listen(app: NestFastifyApplication): Promise<void> {
  const config = app.get<ServerConfig>(serverConfig.KEY);
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw toListenFailure(error, config);
  });
  const { link } = app.getHttpAdapter() as DrainingAdapter;
  if (link) return reportStart(app, link);
  const { healthPort: port, healthHost: host, prefix } = config;
  if (port !== undefined) await app.get(HealthPort, { strict: false }).listen({ port, host, prefix });
  await logStart(app);
}

/** Logs its errors, because Fastify ignores errors of an `onListen` hook. */
async function recover(app: NestFastifyApplication): Promise<void> {
  try {
    await app.get(RunService, { strict: false }).recover();
  } catch (err) {
    new Log('Bootstrap').error({ err }, 'Run recovery failed; it is retried at the next start');
  }
}

/** Runs a step of the start. If it fails, closes the application, so that the database is free for the next attempt. */
async function closeOnFailure(
  app: NestFastifyApplication,
  step: () => void | Promise<void>,
): Promise<NestFastifyApplication> {
  try {
    await step();
    return app;
  } catch (error) {
    // The first error is reported, not an error of the close.
    await app.close().catch(() => undefined);
    throw error;
  }
}
