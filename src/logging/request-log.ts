import type { LoggerService } from '@nestjs/common';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { PinoLogger } from 'nestjs-pino';

/**
 * Answers the id of each request in `X-Request-Id`, adds it to every log line of the request as `request_id`, and logs the request once, when its connection closes: at `debug`,
 * or at `warn` if it failed. A logger of the application's own receives these lines without `request_id`. It logs no stack, because the cause is logged where it occurs.
 */
export function logRequests(fastify: FastifyInstance, log: PinoLogger, own?: LoggerService): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const from = Date.now();
    reply.header('x-request-id', request.id);
    log.runInContext(
      () => {
        const logger = own ? toRequestLogger(own) : log.logger;
        // Also emitted if the client disconnects before its response.
        reply.raw.once('close', () => logResponse(reply, logger, Date.now() - from));
        done();
      },
      { bindings: { request_id: request.id } },
    );
  });
}

/** The parts of a logger that the log of requests uses. */
interface RequestLogger {
  isLevelEnabled(level: 'debug'): boolean;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

function toRequestLogger(logger: LoggerService): RequestLogger {
  return {
    isLevelEnabled: () => logger.debug !== undefined,
    warn: (fields, message) => logger.warn(fields, message, 'Http'),
    debug: (fields, message) => logger.debug?.(fields, message, 'Http'),
  };
}

function logResponse({ request, raw }: FastifyReply, logger: RequestLogger, responseTime: number): void {
  const { statusCode } = raw;
  const isFailed = statusCode >= 500;
  if (!isFailed && !logger.isLevelEnabled('debug')) return;
  const fields = { req: { method: request.method, url: request.originalUrl }, res: { statusCode }, responseTime };
  if (isFailed) logger.warn(fields, `request failed with status code ${statusCode}`);
  else logger.debug(fields, raw.writableFinished ? 'request completed' : 'request aborted');
}
