import { failed, notTaken, refused } from './outgoing.error.js';

/** One request of a call that may be redirected. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What no other origin may see. */
  readonly secrets: readonly string[];
  /** Whether another origin than the call's own has led here. */
  readonly isForeign: boolean;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What any server may see. All else may be a secret, whatever it is called. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'idempotency-key', 'user-agent']);
/** How often what a redirect says again may have been percent-encoded on the way. */
const DECODINGS = 3;

/**
 * Where a reply redirects to, if it does (RFC 9110, 15.4): 303 asks there with GET, 301 and 302 turn POST into GET as
 * browsers do, 307 and 308 say the same again. To another origin only harmless headers go that hold no secret, and
 * nothing brings the others back. @throws AppError when it leads nowhere, from https to http, or elsewhere with a secret
 */
export function redirectedHop(hop: Hop, status: number, location: string | undefined): Hop | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const url = targetOf(hop, status, location);
  const isForeign = hop.isForeign || url.origin !== hop.url.origin;
  if (isForeign && holdsSecret(url.href, hop.secrets)) {
    // The name of the place may be the secret.
    const what = `${hop.url.host} leads elsewhere with a secret of the call in the address, which is not followed`;
    throw refused(`${what}; if it belongs there, call that place itself.`);
  }
  const isAsked = becomesGet(status, hop.method);
  const isKept = (name: string, value: string) =>
    (!isForeign || (HARMLESS.has(name) && !holdsSecret(value, hop.secrets))) &&
    !(isAsked && name.startsWith('content-'));
  const kept = Object.entries(hop.headers).filter(([name, value]) => isKept(name, value));
  return {
    url,
    method: isAsked ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    ...(!isAsked && hop.body !== undefined && { body: hop.body }),
    secrets: hop.secrets,
    isForeign,
  };
}

export function tooManyRedirects(url: URL, most: number): Error {
  return failed(`The call was redirected more than ${most} times, at last by ${url.host}.`);
}

function targetOf({ url: from }: Hop, status: number, location: string | undefined): URL {
  if (location === undefined) throw notTaken(`${from.host} answered ${status} and does not say where to.`);
  const url = URL.parse(location, from.href);
  if (!url) throw notTaken(`${from.host} answered ${status} and leads to no URL.`);
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${from.host} leads from https to http, which is not followed.`);
  }
  return url;
}

/** Whether a text holds a secret, as it is or encoded for a URL. */
function holdsSecret(text: string, secrets: readonly string[]): boolean {
  let plain = text;
  for (let count = 0; count <= DECODINGS; count++) {
    if (secrets.some((secret) => folded(plain).includes(folded(secret)))) return true;
    plain = plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return false;
}

/** A query may write a space as `+`, and names of hosts know no capitals. */
function folded(text: string): string {
  return text.replaceAll('+', ' ').toLowerCase();
}

function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return status <= 302 && method === 'POST';
}
