import { isLoopback } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import type { CredentialRequest } from './authorization.js';

type CallerRequest = Pick<CredentialRequest, 'method' | 'headers'>;

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Schemes of `Authorization` for which browsers send stored credentials. */
const BROWSER_SCHEME = /^(basic|digest|negotiate|ntlm)\b/i;
/** Values of `Sec-Fetch-Site` for pages of the same origin, and for requests by the user. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);
/** Headers that a proxy adds (RFC 7239, RFC 9110 7.6.3, and their predecessors). */
const PROXY_HEADER = /^(forwarded|via|x-real-ip|x-forwarded-.+)$/;
const REMEDY = 'Set API_KEYS (`npm run key` makes an entry)';

/**
 * Protects a server without keys, to which each caller is an admin. It rejects:
 * - DNS rebinding: a third-party site can point its own name at 127.0.0.1; its requests then carry that name in `Host`;
 * - requests that arrive through a proxy of this machine, since these come from any machine;
 * - requests that change something, sent by a page of a third-party site.
 * @param allowedOrigins origins of pages that may call the server
 * @throws AppError `FORBIDDEN`
 */
export function assertLocal({ method, headers }: CallerRequest, allowedOrigins: readonly string[]): void {
  const host = hostNameFrom(headers);
  if (host === undefined || !isLoopback(host)) {
    throw forbidden(
      'answers only requests to localhost or 127.0.0.1 (protection against DNS rebinding); the Host header of this request names another host',
      'to serve other hosts',
    );
  }
  const proxyHeader = Object.keys(headers).find((name) => PROXY_HEADER.test(name));
  if (proxyHeader !== undefined) {
    throw forbidden(
      `refuses requests that a proxy forwards, because each caller would be an admin. This request has the header "${proxyHeader}"`,
      'to serve behind a proxy',
    );
  }
  if (SAFE_METHODS.has(method) || isOwnPage(headers, allowedOrigins)) return;
  throw forbidden(
    'refuses changes by web pages of other sites; the Origin or Sec-Fetch-Site header of this request names another site',
    'or add the origin of the page to CORS_ORIGINS',
  );
}

/**
 * Protects the routes in a host whose callers a cookie, or a password that the browser stores, may authenticate: the
 * browser adds it to requests by pages of other sites too. It rejects such requests that change something. A page can set
 * another `Authorization` for another origin only with the host's permission (CORS).
 * @param allowedOrigins origins of pages that may call the routes
 * @throws AppError `FORBIDDEN`
 */
export function assertSameSite({ method, headers }: CallerRequest, allowedOrigins: readonly string[]): void {
  const { cookie, authorization } = headers;
  const isAdded = authorization === undefined ? cookie !== undefined : BROWSER_SCHEME.test(String(authorization));
  if (SAFE_METHODS.has(method) || !isAdded || isOwnSite(headers, allowedOrigins)) return;
  const what = 'A page of another site sent this request, with a cookie or another credential that the browser adds';
  throw new AppError('FORBIDDEN', `${what}. If it is yours, add its origin to JACKDAW_CORS_ORIGINS.`);
}

/** Protects a session of a browser: rejects changes that a page of another site requests. @throws AppError `FORBIDDEN` */
export function assertOwnSite({ method, headers }: CallerRequest): void {
  if (SAFE_METHODS.has(method) || isOwnSite(headers, [])) return;
  throw new AppError('FORBIDDEN', 'A page of another site sent this request, with the session of the console.');
}

/** Whether the sender is a page of the same origin or an allowed one, or no page. */
function isOwnSite(
  { origin, host, 'sec-fetch-site': site }: CallerRequest['headers'],
  allowed: readonly string[],
): boolean {
  const page = typeof origin === 'string' ? URL.parse(origin) : undefined;
  if (page && allowed.includes(page.origin)) return true;
  // Only an old browser, or one on plain HTTP, omits `Sec-Fetch-Site`.
  return site === undefined ? origin === undefined || page?.host === host : OWN_SITES.has(site);
}

/** Whether the sender is no web page, a page of this machine, or an allowed page. */
function isOwnPage({ origin, 'sec-fetch-site': site }: CallerRequest['headers'], allowed: readonly string[]): boolean {
  const page = typeof origin === 'string' ? URL.parse(origin) : undefined;
  if (page && allowed.includes(page.origin)) return true;
  if (site === 'cross-site') return false;
  return origin === undefined || (page != null && isLoopback(page.hostname));
}

function forbidden(what: string, purpose: string): AppError {
  return new AppError('FORBIDDEN', `Without API_KEYS the server ${what}. ${REMEDY} ${purpose}.`);
}

/** The host name of the `Host` header, without its port; `undefined` without the header. */
function hostNameFrom(headers: CallerRequest['headers']): string | undefined {
  const { host } = headers;
  return typeof host === 'string' ? /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host)?.[1] : undefined;
}
