import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostRequest } from './mount.js';

/** A request and its response in the host, of Express or of Fastify. */
export interface HostExchange {
  readonly request: HostRequest;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** The pattern of its route, and the path that a router before it has removed. */
  readonly pattern: string;
  readonly removed: string;
}

interface ExpressRequest extends IncomingMessage {
  readonly baseUrl?: string;
  readonly route?: { readonly path: string };
}

interface FastifyExchange {
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string };
}

interface FastifyResponse {
  readonly raw: ServerResponse;
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  hijack(): unknown;
}

/** Takes over the response. The headers that the host has set, such as those of `helmet`, stay. */
export function takeOver(given: object, response: object): HostExchange {
  const request = given as HostRequest;
  if (!isFastify(response)) {
    const raw = given as ExpressRequest;
    const pattern = raw.route?.path ?? '';
    return { request, raw, response: response as ServerResponse, pattern, removed: raw.baseUrl ?? '' };
  }
  for (const [name, value] of Object.entries(response.getHeaders())) {
    if (value !== undefined) response.raw.setHeader(name, value);
  }
  response.hijack();
  const { raw, routeOptions } = given as FastifyExchange;
  return { request, raw, response: response.raw, pattern: routeOptions.url ?? '', removed: '' };
}

function isFastify(response: object): response is FastifyResponse {
  return 'hijack' in response && 'raw' in response;
}
