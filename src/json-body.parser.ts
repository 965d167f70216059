import type { FastifyRequest } from 'fastify';
import { AppError, parseJson, type JsonFault } from './common/index.js';

/** Fastify's parser of JSON bodies. @throws AppError `MALFORMED_JSON` or `VALIDATION_FAILED` */
export function parseJsonBody(
  _request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  if (body.length === 0) return done(null, undefined);
  const parsed = parseJson(body.toString('utf8'));
  if (parsed.ok) done(null, parsed.value);
  else done(toError(parsed.fault));
}

function toError(fault: JsonFault): AppError {
  switch (fault.kind) {
    case 'syntax':
      return new AppError('MALFORMED_JSON', 'The body is not valid JSON.');
    case 'depth':
      return new AppError('MALFORMED_JSON', `The body is nested deeper than ${fault.maxDepth} levels.`);
    case 'forbidden_key': {
      const message = `The key "${fault.path}" is not allowed.`;
      return new AppError('VALIDATION_FAILED', message, { details: { errors: [{ field: fault.path, message }] } });
    }
  }
}
