import { type HttpServer, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { HostExchange } from './host-exchange.js';

/** The wildcard in the route of each mount, which marks its path. */
export const WILDCARD = '*jackdaw';

/** Names of the body parsers of Express. */
const PARSERS = new Set(['jsonParser', 'urlencodedParser', 'textParser', 'rawParser']);
const BODY_HEADERS = ['content-type', 'content-length', 'transfer-encoding'];

type Next = (error?: unknown) => void;

/** The parts of Express's router that find its routes and parsers. */
interface Layer {
  readonly name: string;
  readonly route?: { readonly path?: unknown };
  handle: (request: IncomingMessage, response: unknown, next: Next) => unknown;
}

/**
 * Finds the mounted paths among the routes of the host, and lets its parsers skip the bodies there: they would change
 * numbers, apply other limits, and answer faults in the form of the host.
 */
@Injectable()
export class HostRoutesService implements OnModuleInit {
  /** The patterns of the mounted paths, such as `/v1/jackdaw`. */
  private readonly paths = new Set<string>();

  constructor(private readonly host: HttpAdapterHost) {}

  /** `undefined` without HTTP, as in a script or a microservice. */
  get platform(): 'express' | 'fastify' | undefined {
    const type = (this.host.httpAdapter as HttpServer | undefined)?.getType?.();
    return type === 'express' || type === 'fastify' ? type : undefined;
  }

  /** Call it before the routes are added. */
  prepare(): void {
    if (this.platform !== 'fastify') return;
    this.host.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => this.noteRoute(route));
  }

  /** Runs after the routes are added. */
  onModuleInit(): void {
    if (this.platform !== 'express') return;
    const { router } = this.host.httpAdapter.getInstance<{ readonly router?: { readonly stack: Layer[] } }>();
    for (const layer of router?.stack ?? []) {
      const path: unknown = layer.route?.path;
      if (typeof path === 'string' && path.endsWith(`/${WILDCARD}`)) this.paths.add(withoutWildcard(path));
      if (PARSERS.has(layer.name)) this.skipParser(layer);
    }
  }

  /** The parts of the URL at the mounted path: of `/v1/jackdaw/runs?x=1` `/v1/jackdaw` and `/runs?x=1`. */
  split({ raw, pattern, removed }: HostExchange): { readonly base: string; readonly rest: string } {
    const mounted = [...this.paths].find((path) => isBelow(pattern, path)) ?? '';
    // Each segment of the pattern, a parameter too, is one segment of the URL.
    const depth = mounted.split('/').length;
    const [path = '', ...query] = (raw.url ?? '').split('?');
    const segments = path.split('/');
    const below = segments.slice(depth).map((segment) => `/${segment}`);
    return {
      base: removed + segments.slice(0, depth).join('/'),
      rest: [below.join(''), ...query].join('?'),
    };
  }

  private noteRoute(route: RouteOptions): void {
    if (route.url.endsWith(`/${WILDCARD}`)) {
      this.paths.add(withoutWildcard(route.url));
      // Fastify has no named wildcards.
      route.url = `${withoutWildcard(route.url)}/*`;
    }
    if (![...this.paths].some((path) => isBelow(route.url, path))) return;
    route.onRequest = [...[route.onRequest ?? []].flat(), hideBody];
    route.preValidation = [showBody, ...[route.preValidation ?? []].flat()];
  }

  private skipParser(layer: Layer): void {
    const parse = layer.handle;
    layer.handle = (request, response, next) => {
      const [path = ''] = (request.url ?? '').split('?', 1);
      return this.isMounted(path) ? next() : parse(request, response, next);
    };
  }

  /** Express ignores the case of paths. */
  private isMounted(path: string): boolean {
    return [...this.paths].some((pattern) => {
      const source = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
      return new RegExp(`^${source}(/|$)`, 'i').test(path);
    });
  }
}

function withoutWildcard(path: string): string {
  return path.slice(0, -WILDCARD.length - 1);
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

/** Fastify parses no body of a request without these headers. */
function hideBody(request: FastifyRequest, _reply: unknown, done: () => void): void {
  request.headers = Object.fromEntries(BODY_HEADERS.map((name) => [name, undefined]));
  done();
}

/** The guards of the host read the headers as they are. */
function showBody(request: FastifyRequest, _reply: unknown, done: () => void): void {
  request.headers = {};
  done();
}
