import type { FastifyInstance, FastifyReply } from 'fastify';
import type { PinoLogger } from 'nestjs-pino';

/**
 * Gives every line that a request causes its `request_id`, and tells the request once, when its connection is done with
 * it: at `debug`, or at `warn` without a stack when it failed, since the cause is told where it is known.
 */
export function logRequests(fastify: FastifyInstance, log: PinoLogger): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const from = Date.now();
    log.runInContext(
      () => {
        const { logger } = log;
        // Also when the client goes away before its answer.
        reply.raw.once('close', () => tell(reply, logger, Date.now() - from));
        done();
      },
      { bindings: { request_id: request.id } },
    );
  });
}

function tell({ request, raw }: FastifyReply, logger: PinoLogger['logger'], responseTime: number): void {
  const { statusCode } = raw;
  const isFailed = statusCode >= 500;
  if (!isFailed && !logger.isLevelEnabled('debug')) return;
  const told = { req: { method: request.method, url: request.url }, res: { statusCode }, responseTime };
  if (isFailed) logger.warn(told, `request failed with status code ${statusCode}`);
  else logger.debug(told, raw.writableFinished ? 'request completed' : 'request aborted');
}
