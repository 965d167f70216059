import type { Params } from 'nestjs-pino';
import type { IncomingMessage } from 'node:http';
import type { DestinationStream } from 'pino';
import { newId } from './common/index.js';
import type { AppConfig } from './config/index.js';

const SECRETS = [
  'req.headers.authorization',
  'req.headers["x-api-key"]',
  'req.headers.cookie',
  'apiKey',
  '*.apiKey',
  'authorization',
  '*.authorization',
];

/** Structured logs, one JSON object a line, to `stream` or standard output; a request is told once, when it is answered. */
export function logOptions({ log }: AppConfig, stream?: DestinationStream): Params {
  return {
    pinoHttp: {
      level: log.level,
      genReqId: () => newId(),
      redact: { paths: SECRETS, censor: '[redacted]' },
      customLogLevel: (_request, response, error) => (error || response.statusCode >= 500 ? 'error' : 'debug'),
      ...(stream && { stream }),
      serializers: { req: ({ id, method, url }: IncomingMessage & { id: string }) => ({ id, method, url }) },
    },
  };
}
