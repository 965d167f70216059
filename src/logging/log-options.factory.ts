import type { Params } from 'nestjs-pino';
import type { DestinationStream, LogFn, Logger } from 'pino';
import { BOOT_CONTEXTS } from './boot-log.wrapper.js';
import type { ServerConfig } from '../config/index.js';
import { toLoggedError } from './log-error.mapper.js';
import { maskLine } from './log-secret.policy.js';
import type { SecurityPolicies } from '../tool-policy/index.js';

const INFO = 30;

/**
 * Structured logs, one JSON object per line, to `stream`. The lines of a request have its `request_id` (`logRequests`).
 */
export function logOptions(
  level: ServerConfig['logLevel'],
  stream: DestinationStream,
  policies: SecurityPolicies,
  redact: (line: string) => string,
): Params {
  return {
    // Fastify hooks log requests: the middleware creates two loggers for each request, even without log lines.
    forRoutes: [],
    pinoHttp: {
      level,
      stream,
      autoLogging: false,
      // Otherwise each serializer receives the output of pino's own one, with every property of an error.
      wrapSerializers: false,
      serializers: { err: (error: unknown) => toLoggedError(error) },
      hooks: { logMethod: lowerBoot, streamWrite: (line) => redact(maskLine(policies.log, line)) },
    },
  };
}

function lowerBoot(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const first = args[0] as { context?: unknown } | null | undefined;
  if (level === INFO && BOOT_CONTEXTS.has(first?.context)) this.debug(...args);
  else method.apply(this, args);
}
