import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { AppModule } from './app.module.js';
import { HttpExceptionFilter } from './common/index.js';
import { AppConfig } from './config/index.js';
import type { JackdawOptions } from './jackdaw.module.js';
import { parseJsonBody } from './json-body.parser.js';
import { createValidationPipe } from './validation.pipe.js';

const BODY_LIMIT_BYTES = 1024 * 1024;

/** The application, ready to listen. */
export async function createApp(options: JackdawOptions = {}): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(options), adapter, {
    bufferLogs: true,
    abortOnError: false,
    forceCloseConnections: true,
  });
  app.useLogger(app.get(Logger));
  app.setGlobalPrefix('api');
  app.useBodyParser('application/json', { bodyLimit: BODY_LIMIT_BYTES }, parseJsonBody);
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(new HttpExceptionFilter());
  app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
  return app;
}

/** Serves until a signal ends it. */
export async function serve(options: JackdawOptions = {}): Promise<NestFastifyApplication> {
  const app = await createApp(options);
  const { http, llm } = app.get(AppConfig);
  await app.listen(http.port, http.host);
  const logger = app.get(Logger);
  logger.log(`Jackdaw serves ${await app.getUrl()}/api/agent/chat with model provider "${llm.provider}"`, 'Bootstrap');
  if (llm.provider === 'offline') {
    logger.warn(
      'No model is configured: the offline model answers. Set OPENAI_API_KEY=…, or LLM_PROVIDER=ollama for a local one (README).',
      'Bootstrap',
    );
  }
  return app;
}
