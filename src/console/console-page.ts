import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, Log } from '../errors/index.js';

const CONSOLE_PATH = '/console';

/** Locations of the built files, relative to this file: in dist/, in lib/, and in dist/ as seen from src/. */
const LOCATIONS = ['./app/', './console/app/', '../../dist/console/app/'];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
/** The page loads only files of this server, runs no inline script, and creates no HTML from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
};
const YEAR = 'public, max-age=31536000, immutable';

/** The forms of a file by encoding. */
interface Asset {
  readonly type: string;
  readonly cache: string;
  readonly forms: ReadonlyMap<string, Buffer>;
}

/** Serves the console. Its files are static, so they need no key: all data comes from the API. */
export function mountConsole(fastify: FastifyInstance): void {
  const assets = readAssets();
  if (!assets) {
    new Log('Console').warn('Web console not served: it is not built; `npm run build` builds it');
    return;
  }
  const send = (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const asset = assets.get(name);
    if (!asset) throw new AppError('NOT_FOUND', `The console has no file "${name}".`);
    const encoding = acceptedEncoding(request.headers['accept-encoding'], asset);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.headers(HEADERS).header('cache-control', asset.cache).type(asset.type).send(asset.forms.get(encoding));
  };
  // The links of the page are relative. `ignoreTrailingSlash` makes both paths one route.
  fastify.get(CONSOLE_PATH, (request, reply) => {
    const [path = '', ...query] = request.originalUrl.split('?');
    if (!path.endsWith('/')) return reply.redirect(['console/', ...query].join('?'), 308);
    return send('index.html', request, reply);
  });
  fastify.get<{ Params: { name: string } }>(`${CONSOLE_PATH}/:name`, (request, reply) =>
    send(request.params.name, request, reply),
  );
}

function acceptedEncoding(accepted: string | string[] | undefined, { forms }: Asset): string {
  const names = String(accepted ?? '')
    .split(',')
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
    .map((each) => each.split(';', 1)[0]!.trim());
  return ['br', 'gzip'].find((name) => names.includes(name) && forms.has(name)) ?? 'identity';
}

/** @returns `undefined` if the console is not built */
function readAssets(): ReadonlyMap<string, Asset> | undefined {
  const folder = LOCATIONS.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) =>
    existsSync(`${path}index.html`),
  );
  if (folder === undefined) return undefined;
  const files = new Set(readdirSync(folder));
  const names = [...files].filter((name) => extname(name) in TYPES);
  return new Map(names.map((name) => [name, toAsset(folder, name, files)]));
}

function toAsset(folder: string, name: string, files: ReadonlySet<string>): Asset {
  const forms = new Map([['identity', readFileSync(folder + name)]]);
  for (const [encoding, suffix] of [
    ['br', '.br'],
    ['gzip', '.gz'],
  ] as const) {
    if (files.has(name + suffix)) forms.set(encoding, readFileSync(folder + name + suffix));
  }
  // These names contain a hash of the content.
  return { type: TYPES[extname(name)]!, cache: /-[A-Z0-9]{8}\.\w+$/.test(name) ? YEAR : 'no-cache', forms };
}
