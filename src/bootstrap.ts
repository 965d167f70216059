import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Logger, PinoLogger } from 'nestjs-pino';
import { AppModule, type AppOptions } from './app.module.js';
import { BootLog } from './boot-log.wrapper.js';
import { AppError, fieldMistake, HttpExceptionFilter, newId } from './common/index.js';
import { AppConfig } from './config/index.js';
import { IMAGE_ROUTES, BODY_LIMIT_BYTES, parseJsonBody } from './json-body.parser.js';
import { toListenFailure } from './listen-failure.error.js';
import { answerFault, MCP_PATH } from './mcp-server/index.js';
import { mountOpenApi } from './openapi.js';
import { RunService } from './run/index.js';
import { logRequests } from './request-log.hook.js';
import { ToolRegistry, type ToolDefinition } from './tool/index.js';
import { createValidationPipe } from './validation.pipe.js';

const BASE64_GROWTH = 4 / 3;
/** Body limit of a session import, which contains a whole session. */
const IMPORT_LIMIT_BYTES = 64 * 1024 * 1024;
/** Maximum length of an id in a path, in characters; the maximum of a session id. */
const MAX_ID_LENGTH = 128;

/** Creates the application, ready to listen. */
export async function createApp(options: AppOptions = {}): Promise<NestFastifyApplication> {
  const problems = new HttpExceptionFilter();
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    // Never the client's own id: a client could imitate the log lines of another client's request.
    genReqId: () => newId(),
    routerOptions: { maxParamLength: MAX_ID_LENGTH, ignoreTrailingSlash: true },
    frameworkErrors: (error: Error, _request: unknown, reply: FastifyReply) => problems.answer(error, reply),
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...options, recovery: 'manual' }),
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
  return closeOnFailure(app, () => setUp(app, problems));
}

/** Serves until a signal ends the process. @throws AppError `CONFIG_INVALID` if it cannot listen on the address */
export async function serve(options: AppOptions = {}): Promise<NestFastifyApplication> {
  const app = await createApp(options);
  return closeOnFailure(app, () => listen(app));
}

async function setUp(app: NestFastifyApplication, problems: HttpExceptionFilter): Promise<void> {
  app.useLogger(app.get(Logger));
  app.setGlobalPrefix('api', { exclude: [MCP_PATH] });
  const fastify = app.getHttpAdapter().getInstance();
  logRequests(fastify, await app.resolve(PinoLogger));
  fastify.removeAllContentTypeParsers();
  const { maxImageBytes } = app.get(AppConfig).agent;
  const bodyLimit = BODY_LIMIT_BYTES + Math.ceil(maxImageBytes * BASE64_GROWTH);
  fastify.addHook('onListen', () => recover(app));
  fastify.addHook('onRoute', (route) => {
    if (route.url === '/api/sessions/import') route.bodyLimit = IMPORT_LIMIT_BYTES;
    if (IMAGE_ROUTES.includes(route.url)) route.bodyLimit = bodyLimit;
    if (route.url === `/${MCP_PATH}`) route.errorHandler = answerFault;
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.url?.includes('%00')) problems.answer(nulInUrl(request), reply);
    else done();
  });
  app.useBodyParser('application/json', { bodyLimit: BODY_LIMIT_BYTES }, parseJsonBody);
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(problems);
  if (app.get(AppConfig).docs.enabled) mountOpenApi(app, () => definitionsIn(app));
  // By default Nest sends itself the signal again, and the exit code is not 0.
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
}

function definitionsIn(app: NestFastifyApplication): readonly ToolDefinition[] {
  const tools = app.get(ToolRegistry, { strict: false }).list();
  return tools.map(({ definition }) => definition);
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

async function listen(app: NestFastifyApplication): Promise<void> {
  const { http, llm } = app.get(AppConfig);
  await app.listen(http.port, http.host).catch((error: unknown) => {
    throw toListenFailure(error, http);
  });
  const logger = app.get(Logger);
  logger.log(`Jackdaw serves ${await app.getUrl()}/api/agent/chat with model provider "${llm.provider}"`, 'Bootstrap');
  if (llm.provider === 'offline') {
    logger.warn(
      'No model is configured: the offline model answers. Set OPENAI_API_KEY=…, or LLM_PROVIDER=ollama for a local one (README).',
      'Bootstrap',
    );
  }
}

/** Logs its errors, because Fastify ignores errors of an `onListen` hook. */
async function recover(app: NestFastifyApplication): Promise<void> {
  try {
    await app.get(RunService, { strict: false }).recover();
  } catch (err) {
    app.get(Logger).error({ err }, 'Run recovery failed; it is retried at the next start', 'Bootstrap');
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
