import { AppError } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { isLoopback } from '../config/index.js';
import { hostNameFrom } from './api-key.parser.js';
import type { CredentialRequest } from './principal-request.types.js';

/** The principal of every request to a server without keys, which serves its own machine only. */
export const LOCAL: Principal = Object.freeze({
  id: 'local',
  tenant: 'default',
  roles: Object.freeze(['admin', 'operator']),
});

type CallerRequest = Pick<CredentialRequest, 'method' | 'headers'>;

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
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
