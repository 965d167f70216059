import { isHeaderName, isReservedHeader } from './header.policy.js';
import type { Pair } from './request-template.parser.js';
import type { RestAuth, RestToolDeclaration } from './rest-tool.types.js';

/** Credentials of a call. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly Pair[];
  readonly cookies: readonly Pair[];
  /** All texts to redact. */
  readonly secrets: readonly string[];
}

type Secrets = Readonly<Record<string, string>>;

/** Allowed characters of a secret: printable ASCII. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;
/** Allowed characters of a cookie's value (RFC 6265, 4.1.1). */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;
const NONE: Credentials = { headers: {}, query: [], cookies: [], secrets: [] };
/** Headers that the call itself sets: a secret in them would be overwritten or misread. */
const OWN_HEADERS = new Set(['accept-encoding', 'content-type', 'idempotency-key']);

/**
 * Creates the credentials of a declaration from the allowed secrets. Mistakes are appended to `problems`, without any
 * secret value.
 */
export function createCredentials(
  auth: RestToolDeclaration['auth'],
  secrets: Secrets,
  problems: string[],
): Credentials {
  const entries = auth === undefined ? [] : ([auth].flat() as readonly RestAuth[]);
  problems.push(...entries.flatMap(nameProblems));
  const named = entries.flatMap(secretNames);
  const missing = named.filter((name) => !Object.hasOwn(secrets, name));
  problems.push(
    ...missing.map(
      (name) => `its auth names ${name}, which TOOL_SECRETS does not list: add it there, and set that variable`,
    ),
  );
  const inCookies = new Set(entries.flatMap((entry) => (isCookie(entry) ? secretNames(entry) : [])));
  const broken = named.filter((name) => {
    const allowed = inCookies.has(name) ? COOKIE_VALUE : HEADER_VALUE;
    return !allowed.test(secrets[name] ?? 'missing');
  });
  problems.push(
    ...broken.map((name) => {
      const place = inCookies.has(name) ? 'cookie' : 'header';
      return `its auth names ${name}, whose value has characters that a ${place} cannot contain`;
    }),
  );
  if (missing.length + broken.length > 0) return NONE;
  const parts = entries.map((entry) => credentialsOf(entry, secrets));
  for (const [place, names] of [
    ['header', parts.flatMap(({ headers }) => Object.keys(headers))],
    ['cookie', parts.flatMap(({ cookies }) => cookies.map(([name]) => name))],
  ] as const) {
    if (new Set(names).size < names.length) problems.push(`its auth has two entries for one ${place}`);
  }
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)) as Record<string, string>,
    query: parts.flatMap(({ query }) => query),
    cookies: parts.flatMap(({ cookies }) => cookies),
    secrets: parts.flatMap((part) => part.secrets),
  };
}

function isCookie(auth: RestAuth): boolean {
  return auth.type === 'apiKey' && auth.in === 'cookie';
}

function nameProblems(auth: RestAuth): string[] {
  if (auth.type !== 'apiKey' || auth.in === 'query') return [];
  const what = `its auth names the ${auth.in} ${JSON.stringify(auth.name)}, which is`;
  if (!isHeaderName(auth.name)) return [`${what} not a valid ${auth.in} name`];
  const name = auth.name.toLowerCase();
  const isReserved = auth.in === 'header' && (isReservedHeader(name) || OWN_HEADERS.has(name));
  return isReserved ? [`${what} reserved: a tool cannot set it`] : [];
}

function secretNames(auth: RestAuth): string[] {
  switch (auth.type) {
    case 'bearer':
      return [auth.token];
    case 'basic':
      return [auth.username, auth.password].filter((name) => name !== undefined);
    case 'apiKey':
      return [auth.key];
  }
}

function credentialsOf(auth: RestAuth, all: Secrets): Credentials {
  switch (auth.type) {
    case 'bearer': {
      const token = all[auth.token]!;
      return { ...NONE, headers: { authorization: `Bearer ${token}` }, secrets: [token] };
    }
    case 'basic': {
      const user = auth.user ?? all[auth.username]!;
      const password = auth.password === undefined ? '' : all[auth.password]!;
      const pair = Buffer.from(`${user}:${password}`).toString('base64');
      const hidden = secretNames(auth).map((name) => all[name]!);
      const secrets = hidden.length > 0 ? [pair, ...hidden] : [];
      return { ...NONE, headers: { authorization: `Basic ${pair}` }, secrets };
    }
    case 'apiKey': {
      const key = all[auth.key]!;
      const secrets = [key];
      if (auth.in === 'query') return { ...NONE, query: [[auth.name, key]], secrets };
      if (auth.in === 'cookie') return { ...NONE, cookies: [[auth.name, key]], secrets };
      return { ...NONE, headers: { [auth.name.toLowerCase()]: key }, secrets };
    }
  }
}

/** The header `cookie`, if there are cookies. */
export function cookieHeader(pairs: readonly Pair[]): { readonly cookie?: string } {
  return pairs.length === 0 ? {} : { cookie: pairs.map((pair) => pair.join('=')).join('; ') };
}
