import type { FastifyRequest } from 'fastify';
import type { Scope } from '../security/index.js';

/** Maximum number of JSON values in a body. */
const MAX_VALUES = 100_000;
export const IMPORT_ROUTE = '/api/sessions/import';
/** Body limits of a session import, which contains a whole session. */
export const IMPORT_LIMIT_BYTES = 64 * 1024 * 1024;
const IMPORT_MAX_VALUES = 2_000_000;

/** Routes whose bodies can contain images, in base64. */
export const IMAGE_ROUTES: readonly string[] = [
  '/api/agent/chat',
  '/api/agent/chat/stream',
  '/api/agent/runs',
  '/api/agent/ui',
  '/v1/chat/completions',
  '/v1/responses',
  '/ag-ui/:agent',
];

/** Routes whose client waits for a run. */
const WAITING_ROUTES: readonly string[] = [
  '/api/agent/chat',
  '/api/agent/chat/stream',
  '/api/agent/ui',
  '/api/tools/:name/call',
  '/v1/chat/completions',
  '/v1/responses',
  '/ag-ui/:agent',
];

export function acceptsImages({ routeOptions }: FastifyRequest): boolean {
  return IMAGE_ROUTES.includes(routeOptions.url ?? '');
}

export function waitsForRun({ routeOptions }: FastifyRequest): boolean {
  return WAITING_ROUTES.includes(routeOptions.url ?? '');
}

export function maxValues({ routeOptions }: FastifyRequest): number {
  return routeOptions.url === IMPORT_ROUTE ? IMPORT_MAX_VALUES : MAX_VALUES;
}

/** The scopes that admit a body above `HTTP_BODY_LIMIT_BYTES`; the route's guard checks all other scopes after the body. */
export function largeBodyScopes({ routeOptions }: FastifyRequest): readonly Scope[] | undefined {
  if (routeOptions.url === IMPORT_ROUTE) return ['sessions:write'];
  return IMAGE_ROUTES.includes(routeOptions.url ?? '') ? ['chat'] : undefined;
}
