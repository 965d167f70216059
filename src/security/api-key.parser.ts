import type { PrincipalRequest } from './principal-request.types.js';

type Headers = PrincipalRequest['headers'];

/** The API key of a request: `Authorization: Bearer <key>`, else `X-API-Key`. */
export function keyFrom(headers: Headers): string | undefined {
  const { authorization } = headers;
  const bearer = typeof authorization === 'string' ? /^Bearer +(\S+) *$/i.exec(authorization)?.[1] : undefined;
  const header = headers['x-api-key'];
  return bearer ?? (typeof header === 'string' && header !== '' ? header : undefined);
}

/** The host name of the `Host` header, without its port; `undefined` without the header. */
export function hostNameFrom(headers: Headers): string | undefined {
  const { host } = headers;
  return typeof host === 'string' ? /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host)?.[1] : undefined;
}
