import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import type { HostAuthenticator } from './host-authenticator.js';

/**
 * Restores bodies that a parser of the host has read already: from its raw body, else from its value. Numbers that the
 * parser has changed stay so.
 */
export function addReadBodies(server: FastifyInstance, authenticator: HostAuthenticator): void {
  server.addHook('preParsing', (request, _reply, payload, done) => {
    const body = request.raw.readableDidRead ? bodyOf(authenticator.callOf(request.raw)?.request) : undefined;
    if (body === undefined) return done(null, payload);
    request.headers = { 'content-encoding': undefined, 'content-length': String(body.length) };
    done(null, Object.assign(Readable.from([body], { objectMode: false }), { receivedEncodedLength: body.length }));
  });
}

function bodyOf({ body, rawBody }: Readonly<Record<string, unknown>> = {}): Buffer | undefined {
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  return body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
