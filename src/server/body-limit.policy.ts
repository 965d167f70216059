import type { FastifyRequest } from 'fastify';
import type { Scope } from '../security/index.js';

/** Maximum number of JSON values in a body. */
const MAX_VALUES = 100_000;
const IMPORT_ROUTE = '/api/sessions/import';
const EVAL_ROUTE = '/api/evals';
/** Body limit of the report of an eval, which contains the results of all lines. */
const EVAL_LIMIT_BYTES = 16 * 1024 * 1024;
/** Body limits of a session import, which contains a whole session. */
const IMPORT_LIMIT_BYTES = 64 * 1024 * 1024;
const IMPORT_MAX_VALUES = 2_000_000;
const EVAL_MAX_VALUES = 1_000_000;

/** Routes whose bodies can contain images, in base64. */
export const IMAGE_ROUTES: readonly string[] = [
  '/api/agent/chat',
  '/api/agent/chat/stream',
  '/api/agent/runs',
  '/api/agent/ui',
  '/v1/chat/completions',
  '/v1/responses',
  '/ag-ui/:agent',
  '/a2a/:agent',
  '/a2a/:agent/:operation',
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
  '/a2a/:agent',
  '/a2a/:agent/:operation',
];

/** The body limit of a route whose bodies may be large; 0 for others. */
export function largeLimit(url: string): number {
  if (url === IMPORT_ROUTE) return IMPORT_LIMIT_BYTES;
  return url === EVAL_ROUTE ? EVAL_LIMIT_BYTES : 0;
}

export function acceptsImages({ routeOptions }: FastifyRequest): boolean {
  return IMAGE_ROUTES.includes(routeOptions.url ?? '');
}

export function waitsForRun({ routeOptions }: FastifyRequest): boolean {
  return WAITING_ROUTES.includes(routeOptions.url ?? '');
}

export function maxValues({ routeOptions }: FastifyRequest): number {
  if (routeOptions.url === IMPORT_ROUTE) return IMPORT_MAX_VALUES;
  return routeOptions.url === EVAL_ROUTE ? EVAL_MAX_VALUES : MAX_VALUES;
}

/** The scopes that admit a body above `HTTP_BODY_LIMIT_BYTES`; the route's guard checks all other scopes after the body. */
export function largeBodyScopes({ routeOptions }: FastifyRequest): readonly Scope[] | undefined {
  if (routeOptions.url === IMPORT_ROUTE) return ['sessions:write'];
  // One route for all operations, which check their own scopes.
  if (routeOptions.url === '/a2a/:agent') return ['chat', 'runs:read', 'runs:write'];
  return [...IMAGE_ROUTES, EVAL_ROUTE].includes(routeOptions.url ?? '') ? ['chat'] : undefined;
}

/** Members that contain images: of our own requests, and of messages in the formats of OpenAI, AG-UI and A2A. */
const IMAGE_PLACES = new Set([
  'images',
  'messages',
  'input',
  'content',
  'image_url',
  'url',
  'source',
  'params',
  'message',
  'parts',
]);

/** Total length of a body's image data; the images are validated later. */
export function imageLength(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? value.length : 0;
  if (Array.isArray(value)) return value.reduce((sum: number, each: unknown) => sum + imageLength(each), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const base64 = agUiImage(value) ?? a2aImage(value);
  if (base64 !== undefined) return base64.length;
  return Object.entries(value)
    .filter(([name]) => IMAGE_PLACES.has(name))
    .reduce((sum, [, each]) => sum + imageLength(each), 0);
}

/** The data of an image in AG-UI: `{type: 'data', mimeType, value}`, before 1.0 `{type: 'binary', mimeType, data}`. */
function agUiImage(part: object): string | undefined {
  const { type, mimeType, value, data } = part as Readonly<Record<string, unknown>>;
  if (typeof mimeType !== 'string' || !mimeType.startsWith('image/')) return undefined;
  const image = type === 'binary' ? data : type === 'data' ? value : undefined;
  return typeof image === 'string' ? image : undefined;
}

/** The data of an image in A2A: `{raw, mediaType}`. */
function a2aImage(part: object): string | undefined {
  const { raw, mediaType } = part as Readonly<Record<string, unknown>>;
  const isImage = typeof mediaType === 'string' && mediaType.startsWith('image/');
  return isImage && typeof raw === 'string' ? raw : undefined;
}
