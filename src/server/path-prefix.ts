import type { FastifyInstance } from 'fastify';

/** A path without a route, for requests outside of the prefix. */
const OUTSIDE = '/outside-of-the-prefix';

/** The URL as the routes expect it. @param prefix `HTTP_PREFIX`, such as `/jackdaw` */
export function withoutPrefix(url: string, prefix: string): string {
  if (!url.startsWith(prefix)) return OUTSIDE;
  const rest = url.slice(prefix.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : OUTSIDE;
}

/**
 * Adds the prefix to the `Location` of our resources, and redirects the prefix itself to the start page, whose links are
 * relative.
 */
export function addPrefix(fastify: FastifyInstance, prefix: string): void {
  if (prefix === '') return;
  fastify.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' && request.originalUrl === prefix) return reply.redirect(`${prefix}/`, 308);
  });
  fastify.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/api/')) reply.header('location', prefix + location);
  });
}
