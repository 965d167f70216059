import type { LoggerService } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PinoLogger } from 'nestjs-pino';
import type { ServerConfig } from '../config/namespaces/index.js';
import type { Principal } from '../kernel/index.js';
import { parseTraceParent } from '../telemetry/index.js';

const CONTEXT = 'Http';
/** Requests of probes and scrapers, which come every few seconds: only their failures are logged. */
const PROBE = /^\/(?:api\/health\/\w+|metrics)\/?$/;
/** The `Location` of a started run. */
const RUN_LOCATION = /\/api\/runs\/([\w-]+)$/;

export interface RequestLogOptions {
  /** As in `HTTP_LOG`. */
  readonly mode: ServerConfig['httpLog'];
  /** A logger of the application's own, if it has one. */
  readonly own?: LoggerService | undefined;
  /** The authenticated principal of a request. */
  readonly principalOf: (request: FastifyRequest) => Principal | undefined;
}

/**
 * Answers the id of each request in `X-Request-Id`, and adds it to every log line of the request as `request_id`, with the `trace_id` of its `traceparent`. Logs the request once, when
 * its connection closes: at `warn` if it failed, otherwise at `info` with the mode `on`, at `debug` with `errors`. The line has no stack, because the cause is logged where it occurs.
 */
export function logRequests(fastify: FastifyInstance, log: PinoLogger, options: RequestLogOptions): void {
  const { own, mode } = options;
  fastify.addHook('onRequest', (request, reply, done) => {
    const from = performance.now();
    const sent = request.raw.socket.bytesWritten;
    reply.header('x-request-id', request.id);
    const bindings = { request_id: request.id, ...traceOf(request) };
    log.runInContext(
      () => {
        const logger = own ? toRequestLogger(own, bindings) : log.logger;
        // Also emitted if the client disconnects before its response.
        const end = () => logResponse(reply, logger, options, { from, sent });
        if (mode !== 'off') reply.raw.once('close', end);
        done();
      },
      { bindings },
    );
  });
}

/** The parts of a logger that the log of requests uses. */
interface RequestLogger {
  isLevelEnabled(level: 'debug'): boolean;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

function toRequestLogger(logger: LoggerService, ids: object): RequestLogger {
  return {
    isLevelEnabled: () => logger.debug !== undefined,
    warn: (fields, message) => logger.warn({ ...ids, ...fields }, message, CONTEXT),
    info: (fields, message) => logger.log({ ...ids, ...fields }, message, CONTEXT),
    debug: (fields, message) => logger.debug?.({ ...ids, ...fields }, message, CONTEXT),
  };
}

function traceOf({ headers }: FastifyRequest): { readonly trace_id?: string } {
  const trace = parseTraceParent(headers['traceparent']);
  return trace ? { trace_id: trace.traceId } : {};
}

interface Start {
  readonly from: number;
  /** Bytes that its connection had sent before. */
  readonly sent: number;
}

function logResponse(reply: FastifyReply, logger: RequestLogger, options: RequestLogOptions, start: Start): void {
  const { request, raw } = reply;
  const { statusCode: status } = raw;
  const isFailed = status >= 500;
  if (!isFailed && options.mode === 'errors' && !logger.isLevelEnabled('debug')) return;
  if (status < 400 && PROBE.test(pathOf(request.url))) return;
  const fields = { ...(!options.own && { context: CONTEXT }), ...fieldsOf(reply, options, start) };
  if (isFailed) return logger.warn(fields, `request failed with status code ${status}`);
  const message = raw.writableFinished ? 'request completed' : 'request aborted';
  if (options.mode === 'on') logger.info(fields, message);
  else logger.debug(fields, message);
}

function fieldsOf(reply: FastifyReply, { principalOf }: RequestLogOptions, { from, sent }: Start): object {
  const { request, raw } = reply;
  const principal = principalOf(request);
  const run_id = runOf(reply);
  return {
    method: request.method,
    // Without the query, which may have secrets and texts of people.
    path: pathOf(request.originalUrl),
    status: raw.statusCode,
    duration_ms: Math.round(performance.now() - from),
    bytes: request.raw.socket.bytesWritten - sent,
    ...(principal && { principal: principal.id, tenant: principal.tenant }),
    ...(run_id !== undefined && { run_id }),
  };
}

/** The run that the response names, else the one in the path. */
function runOf(reply: FastifyReply): string | undefined {
  const { routeOptions, params } = reply.request;
  const header = reply.getHeader('x-run-id') ?? RUN_LOCATION.exec(String(reply.getHeader('location')))?.[1];
  if (typeof header === 'string') return header;
  const isOfRun = routeOptions.url?.startsWith('/api/runs/:id') ?? false;
  return isOfRun ? (params as { readonly id?: string }).id : undefined;
}

function pathOf(url: string): string {
  return url.split('?', 1)[0]!;
}
