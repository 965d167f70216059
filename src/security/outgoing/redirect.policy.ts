import { failed, notTaken, refused } from './outgoing.error.js';

/** One request of a call that may be redirected. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What any server may see. All else may be a secret, whatever it is called. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'idempotency-key', 'user-agent']);

/**
 * Where a reply redirects to, if it does (RFC 9110, 15.4): 303 asks there with GET, 301 and 302 turn POST into GET as
 * browsers do, 307 and 308 say the same again. To another origin only harmless headers go, and nothing brings the others
 * back. @throws AppError when it leads nowhere, or from https to http
 */
export function redirectedHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  if (location === undefined) throw notTaken(`${hop.url.host} answered ${status} and does not say where to.`);
  const url = URL.parse(location, hop.url.href);
  if (!url) throw notTaken(`${hop.url.host} answered ${status} and leads to no URL.`);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${hop.url.host} leads from https to http, which is not followed.`);
  }
  const isAsked = becomesGet(status, hop.method);
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (url.origin === hop.url.origin || HARMLESS.has(name)) && !(isAsked && name.startsWith('content-')),
  );
  return {
    url,
    method: isAsked ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    ...(!isAsked && hop.body !== undefined && { body: hop.body }),
  };
}

export function tooManyRedirects(url: URL, most: number): Error {
  return failed(`The call was redirected more than ${most} times, at last by ${url.host}.`);
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return status <= 302 && method === 'POST';
}
