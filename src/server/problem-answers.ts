import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../errors/index.js';
import { newId } from '../kernel/index.js';

/** The part of `HttpExceptionFilter` that answers. */
interface Problems {
  answer(thrown: unknown, reply: FastifyReply): void;
}

/**
 * Answers a request without `Host` with 400, and a known path with another method with 405 and `Allow`, before the body
 * is read. Call it before the routes are added.
 */
export function refuseWrongRequests(fastify: FastifyInstance, problems: Problems): void {
  const routes: { readonly methods: readonly string[]; readonly path: RegExp }[] = [];
  fastify.addHook('onRoute', ({ method, url }) => {
    const source = url
      .replace(/\/$/, '')
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+');
    routes.push({ methods: [method].flat(), path: new RegExp(`^${source}/?$`) });
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return problems.answer(new AppError('REQUEST_REFUSED', 'The header Host is missing.'), reply);
    }
    if (!request.is404) return done();
    const [path = ''] = request.url.split('?', 1);
    const methods = new Set(routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods));
    if (methods.size === 0 || methods.has(request.method)) return done();
    const allowed = [...methods].toSorted().join(', ');
    reply.header('allow', allowed);
    const detail = `${path} has no method ${request.method}; it has ${allowed}.`;
    problems.answer(new AppError('METHOD_NOT_ALLOWED', detail), reply);
  });
}

/** Answers a request that is not valid HTTP. Node closes the connection, as the end of the request is unknown. */
export function answerInvalidHttp(error: FastifyError & { readonly code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, code, detail] = FAILURES[error.code] ?? INVALID;
  const title = STATUS_CODES[status] ?? '';
  const request_id = newId();
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code, request_id });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
        `X-Request-Id: ${request_id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

type Failure = readonly [status: number, code: string, detail: string];

const INVALID: Failure = [400, 'REQUEST_REFUSED', 'The request is not valid HTTP/1.1.'];
const FAILURES: Readonly<Record<string, Failure>> = {
  HPE_HEADER_OVERFLOW: [431, 'REQUEST_REFUSED', 'The headers and the URL are larger than 16 KiB together.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The headers of the request did not arrive in time.'],
};
