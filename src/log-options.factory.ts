import type { Params } from 'nestjs-pino';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DestinationStream, LogFn, Logger } from 'pino';
import { BOOT_CONTEXTS } from './boot-log.wrapper.js';
import type { AppConfig } from './config/index.js';
import { toLoggedError } from './log-error.mapper.js';
import { createRedaction } from './log-secret.policy.js';

const INFO = 30;
/** A middleware sees only what follows its own path as the `url`. */
type MountedRequest = IncomingMessage & { readonly originalUrl?: string };

/**
 * Structured logs, one JSON object a line, to `stream` or standard output. What a request does bears its `request_id`;
 * the request itself is told once, when it is answered: at `debug`, or at `warn` without a stack when it failed, since
 * the cause is told where it is known.
 */
export function logOptions(config: AppConfig, stream?: DestinationStream): Params {
  return {
    pinoHttp: {
      level: config.log.level,
      ...(stream && { stream }),
      customAttributeKeys: { reqId: 'request_id' },
      quietReqLogger: true,
      customLogLevel: (_request, response, error) => (error || response.statusCode >= 500 ? 'warn' : 'debug'),
      customErrorMessage: (_request, _response, error) => `request failed: ${error.message}`,
      customErrorObject: (_request, _response, _error, { err: _stack, ...told }: Record<string, unknown>) => told,
      redact: { paths: ['apiKey', '*.apiKey', 'authorization', '*.authorization'], censor: '[redacted]' },
      // Else each would be handed what pino's own serializer made: every header, every property of an error.
      wrapSerializers: false,
      serializers: {
        req: ({ method, url, originalUrl = url }: MountedRequest) => ({ method, url: originalUrl }),
        res: ({ statusCode }: ServerResponse) => ({ statusCode }),
        err: (error: unknown) => toLoggedError(error),
      },
      hooks: { logMethod: lowerBoot, streamWrite: createRedaction(config) },
    },
  };
}

function lowerBoot(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  const given = args[0] as { context?: unknown } | null | undefined;
  if (level === INFO && BOOT_CONTEXTS.has(given?.context)) this.debug(...args);
  else method.apply(this, args);
}
