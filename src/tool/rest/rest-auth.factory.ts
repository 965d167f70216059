import { isHeaderName, isReservedHeader } from './header.policy.js';
import type { Pair } from './query-template.mapper.js';
import type { RestAuth, RestToolDeclaration } from './rest-tool.types.js';

/** Credentials of a call. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly Pair[];
  /** All texts to redact. */
  readonly secrets: readonly string[];
}

type Secrets = Readonly<Record<string, string>>;

/** Allowed characters of a secret: printable ASCII. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;
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
  problems.push(...entries.flatMap(headerProblems));
  const named = entries.flatMap(secretNames);
  const missing = named.filter((name) => !Object.hasOwn(secrets, name));
  problems.push(
    ...missing.map(
      (name) => `its auth names ${name}, which TOOL_SECRETS does not list: add it there, and set that variable`,
    ),
  );
  const broken = named.filter((name) => !HEADER_VALUE.test(secrets[name] ?? 'missing'));
  problems.push(
    ...broken.map((name) => `its auth names ${name}, whose value has characters that a header cannot contain`),
  );
  if (missing.length + broken.length > 0) return { headers: {}, query: [], secrets: [] };
  const parts = entries.map((entry) => credentialsOf(entry, secrets));
  const doubles = parts.flatMap(({ headers }) => Object.keys(headers));
  if (new Set(doubles).size < doubles.length) problems.push('its auth has two entries for one header');
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)) as Record<string, string>,
    query: parts.flatMap(({ query }) => query),
    secrets: parts.flatMap((part) => part.secrets),
  };
}

function headerProblems(auth: RestAuth): string[] {
  if (auth.type !== 'apiKey' || auth.in !== 'header') return [];
  const what = `its auth names the header ${JSON.stringify(auth.name)}, which is`;
  if (!isHeaderName(auth.name)) return [`${what} not a valid header name`];
  const name = auth.name.toLowerCase();
  return isReservedHeader(name) || OWN_HEADERS.has(name) ? [`${what} reserved: a tool cannot set it`] : [];
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
      return { headers: { authorization: `Bearer ${token}` }, query: [], secrets: [token] };
    }
    case 'basic': {
      const user = auth.user ?? all[auth.username]!;
      const password = auth.password === undefined ? '' : all[auth.password]!;
      const pair = Buffer.from(`${user}:${password}`).toString('base64');
      const hidden = secretNames(auth).map((name) => all[name]!);
      const secrets = hidden.length > 0 ? [pair, ...hidden] : [];
      return { headers: { authorization: `Basic ${pair}` }, query: [], secrets };
    }
    case 'apiKey': {
      const key = all[auth.key]!;
      if (auth.in === 'query') return { headers: {}, query: [[auth.name, key]], secrets: [key] };
      return { headers: { [auth.name.toLowerCase()]: key }, query: [], secrets: [key] };
    }
  }
}
