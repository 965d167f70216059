import type { Params } from 'nestjs-pino';
import type { DestinationStream, LogFn, Logger } from 'pino';
import { BOOT_CONTEXTS } from './boot-log.wrapper.js';
import type { AppConfig } from './config/index.js';
import { toLoggedError } from './log-error.mapper.js';
import { createRedaction, maskLine } from './log-secret.policy.js';
import type { SecurityPolicies } from './tool/index.js';

const INFO = 30;

/**
 * Structured logs, one JSON object per line, to `stream`. The lines of a request have its `request_id` (`logRequests`).
 */
export function logOptions(config: AppConfig, stream: DestinationStream, policies: SecurityPolicies): Params {
  const redact = createRedaction(config);
  return {
    // Fastify hooks log requests: the middleware creates two loggers for each request, even without log lines.
    forRoutes: [],
    pinoHttp: {
      level: config.log.level,
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
  const given = args[0] as { context?: unknown } | null | undefined;
  if (level === INFO && BOOT_CONTEXTS.has(given?.context)) this.debug(...args);
  else method.apply(this, args);
}
