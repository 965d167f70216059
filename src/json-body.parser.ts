import type { FastifyRequest } from 'fastify';
import { AppError, fieldMistake, type JsonFault, parseJson } from './common/index.js';

/** Of a body, in bytes; where pictures may come along, of all else in it. */
export const BODY_LIMIT_BYTES = 1024 * 1024;
/** Where pictures may come along, in base64. */
export const ASKING_ROUTES: readonly string[] = ['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'];

/** Fastify's parser of JSON bodies. @throws AppError `MALFORMED_JSON`, `VALIDATION_FAILED` or `PAYLOAD_TOO_LARGE` */
export function parseJsonBody(
  request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  if (body.length === 0) return done(null, undefined);
  const parsed = parseJson(body.toString('utf8'));
  if (!parsed.ok) return done(toError(parsed.fault));
  const isAsking = ASKING_ROUTES.includes(request.routeOptions.url ?? '');
  if (isAsking && body.length - imageLength(parsed.value) > BODY_LIMIT_BYTES) return done(tooLarge());
  done(null, parsed.value);
}

/** How much of a body is pictures; whether they are such is looked at later. */
function imageLength(body: unknown): number {
  const images: unknown = typeof body === 'object' && body !== null && 'images' in body ? body.images : [];
  if (!Array.isArray(images)) return 0;
  return images.reduce((sum: number, image: unknown) => {
    const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : '';
    return sum + (typeof url === 'string' && url.startsWith('data:') ? url.length : 0);
  }, 0);
}

function tooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `Without its images the body may have ${BODY_LIMIT_BYTES} bytes.`);
}

function toError(fault: JsonFault): AppError {
  switch (fault.kind) {
    case 'syntax':
      return new AppError('MALFORMED_JSON', 'The body is not valid JSON.');
    case 'depth':
      return new AppError('MALFORMED_JSON', `The body is nested deeper than ${fault.maxDepth} levels.`);
    case 'forbidden_key': {
      const message = `The key "${fault.path}" is not allowed.`;
      return new AppError('VALIDATION_FAILED', message, {
        details: { errors: [fieldMistake(fault.path, message, 'isAllowedKey', fault.value)] },
      });
    }
  }
}
