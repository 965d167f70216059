import { failed, notTaken, refused } from './outgoing.error.js';

/** One request of a call that may be redirected. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Texts that no other origin may receive. */
  readonly secrets: readonly string[];
  /** Whether a redirect from another origin led here. */
  readonly isForeign: boolean;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that any server may receive. Any other header may be a secret. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'idempotency-key', 'user-agent']);
/** Maximum layers of percent-encoding that are searched for a secret. */
const DECODINGS = 3;

/**
 * The next request of a redirect, if the reply is one (RFC 9110, 15.4): 303 becomes GET, 301 and 302 turn POST into GET
 * as browsers do, 307 and 308 repeat the request. Another origin receives only harmless headers without secrets, also
 * after a redirect back. @throws AppError without a valid URL, from https to http, or to another origin with a secret
 */
export function redirectedHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const url = targetOf(hop, status, location);
  const isForeign = hop.isForeign || url.origin !== hop.url.origin;
  if (isForeign && holdsSecret(url.href, hop.secrets)) {
    // The message omits the target, since its host name may be the secret.
    const what = `${hop.url.host} redirects to another origin with a secret of the call in the URL, which is refused`;
    throw refused(`${what}; if the secret belongs there, call that URL directly.`);
  }
  const isGet = becomesGet(status, hop.method);
  const isForwarded = (name: string, value: string) =>
    (!isForeign || (HARMLESS.has(name) && !holdsSecret(value, hop.secrets))) && !(isGet && name.startsWith('content-'));
  const forwarded = Object.entries(hop.headers).filter(([name, value]) => isForwarded(name, value));
  return {
    url,
    method: isGet ? 'GET' : hop.method,
    headers: Object.fromEntries(forwarded),
    ...(!isGet && hop.body !== undefined && { body: hop.body }),
    secrets: hop.secrets,
    isForeign,
  };
}

export function tooManyRedirects(url: URL, most: number): Error {
  return failed(`The call was redirected more than ${most} times, last by ${url.host}.`);
}

function targetOf({ url: from }: Hop, status: number, location: string | undefined): URL {
  if (location === undefined) throw notTaken(`${from.host} answered ${status} without a Location header.`);
  const url = URL.parse(location, from.href);
  if (!url) throw notTaken(`${from.host} answered ${status} with an invalid URL in Location.`);
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${from.host} redirects from https to http, which is refused.`);
  }
  return url;
}

/** Whether a text contains a secret, plain or percent-encoded. */
function holdsSecret(text: string, secrets: readonly string[]): boolean {
  let plain = text;
  for (let count = 0; count <= DECODINGS; count++) {
    if (secrets.some((secret) => folded(plain).includes(folded(secret)))) return true;
    plain = plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return false;
}

/** A query may encode a space as `+`, and host names are case-insensitive. */
function folded(text: string): string {
  return text.replaceAll('+', ' ').toLowerCase();
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return status <= 302 && method === 'POST';
}
