import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { LoggerService } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Logger as ServerLogger, PinoLogger } from 'nestjs-pino';
import { AppModule, type AppOptions, loadServer } from '../app.module.js';
import { BootLog } from '../logging/index.js';
import { HealthPort } from '../health/index.js';
import { mountConsole } from '../console/index.js';
import { Log, ProblemFilter } from '../errors/index.js';
import { serverConfig, type ServerConfig } from '../config/index.js';
import { DrainingAdapter } from './draining-adapter.js';
import { addCallerHooks, addDrainHooks, addHttpRules, answerInvalidHttp, fastifyOptions } from './http-rules.js';
import { toListenFailure } from './listen-failure.error.js';
import { MCP_PATH } from '../mcp-server/index.js';
import { mountOpenApi } from '../openapi/index.js';
import { RunAdmissionService, RunService } from '../run/index.js';
import { RequestAuthenticator } from '../security/index.js';
import { logRequests } from '../logging/index.js';
import { type ToolDefinition, ToolRegistry } from '../tool/index.js';
import { addPrefix, withoutPrefix } from './path-prefix.js';
import { END_SIGNALS, onEndSignal } from './end-signals.js';
import { mountMetrics } from './metrics-route.js';
import { endWhenStuck } from './process-end.js';
import { logStart } from './start-log.js';
import { mountStartPage } from './start-page.js';
import { withToolFiles } from './tool-files.loader.js';
import { logUnhandledErrors } from './unhandled-errors.js';
import { createValidationPipe } from './validation.pipe.js';

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
  const adapter = new DrainingAdapter(fastifyServer, server.shutdownGraceMs);
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
  const releases = [logUnhandledErrors(), endWhenStuck(app)];
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
  app.setGlobalPrefix('api', { exclude: [MCP_PATH, 'v1/{*path}', 'ag-ui/:agent'] });
  const fastify = app.getHttpAdapter().getInstance();
  const callers = app.get(RequestAuthenticator);
  const { prefix, httpLog: mode } = app.get<ServerConfig>(serverConfig.KEY);
  const principalOf = (request: FastifyRequest) => callers.found(request);
  logRequests(fastify, await app.resolve(PinoLogger), { mode, own: logger, principalOf });
  addPrefix(fastify, prefix);
  fastify.addHook('onListen', () => recover(app));
  addDrainHooks(fastify, app.get(RunAdmissionService, { strict: false }));
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
  // By default Nest sends itself the signal again, and the exit code is not 0.
  app.enableShutdownHooks(END_SIGNALS, { useProcessExit: true });
  const adapter = app.getHttpAdapter() as DrainingAdapter;
  const admission = app.get(RunAdmissionService, { strict: false });
  const health = app.get(HealthPort, { strict: false });
  const release = onEndSignal(() => {
    admission.stop();
    health.drain();
    adapter.drain();
  });
  adapter.getInstance().addHook('onClose', (_instance, done) => {
    release();
    done();
  });
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
