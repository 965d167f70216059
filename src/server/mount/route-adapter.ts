import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors/index.js';
import { isPart, isSelected } from './route-selection.policy.js';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** The part of Nest's adapter of Fastify that its router uses, for selected routes. */
export class RouteAdapter {
  private readonly known: string[] = [];

  constructor(
    private readonly fastify: FastifyInstance,
    private readonly prefix: string,
    private readonly selected: readonly string[] | undefined,
  ) {}

  /** @throws AppError `CONFIG_INVALID` for a selection without a route */
  assertSelected(name: string): void {
    const unknown = this.selected?.find((entry) => !this.known.some((route) => isPart(route, entry)));
    if (unknown === undefined) return;
    const message = `\`routes\` of ${name} has "${unknown}", which selects none of: ${this.known.join(', ')}.`;
    throw new AppError('CONFIG_INVALID', message);
  }

  get = (path: string, handler: Handler): void => this.add('GET', path, handler);
  post = (path: string, handler: Handler): void => this.add('POST', path, handler);
  put = (path: string, handler: Handler): void => this.add('PUT', path, handler);
  patch = (path: string, handler: Handler): void => this.add('PATCH', path, handler);
  delete = (path: string, handler: Handler): void => this.add('DELETE', path, handler);

  reply(reply: FastifyReply, body: unknown, status?: number): unknown {
    if (status !== undefined) reply.status(status);
    return reply.send(body);
  }

  status(reply: FastifyReply, code: number): FastifyReply {
    return reply.status(code);
  }

  setHeader(reply: FastifyReply, name: string, value: string): FastifyReply {
    return reply.header(name, value);
  }

  private add(method: string, url: string, handler: Handler): void {
    const route = `${method} ${url.slice(this.prefix.length + 1)}`;
    this.known.push(route);
    if (isSelected(route, this.selected)) this.fastify.route({ method, url, handler: withParameters(handler) });
  }
}

/** As Nest's adapter: a path with an empty parameter is not found. */
function withParameters(handler: Handler): Handler {
  return (request, reply) => {
    const values = Object.values(request.params as Readonly<Record<string, string>>);
    return values.includes('') ? reply.callNotFound() : handler(request, reply);
  };
}
