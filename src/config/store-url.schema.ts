import { z } from 'zod';

export type DatabaseKind = 'sqlite' | 'postgres' | 'mariadb';

/** The store of sessions' turns; `own` is the journal's database. */
type SessionStoreChoice =
  { readonly kind: 'own' | 'memory' | 'file' } | { readonly kind: 'redis' | 'database'; readonly url: string };

const SQLITE_URL = /^sqlite:(:memory:|(\/\/)?(\.|\/(?!\/)).+|[^:/.~].*)$/;
const SERVER_KINDS: Readonly<Record<string, DatabaseKind>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mariadb',
  'mariadb:': 'mariadb',
};
/** Permitted parameters of a MariaDB URL; PostgreSQL's driver reads its own parameters. */
const MARIADB_PARAMS: readonly string[] = ['sslmode', 'sslrootcert'];
const SSL_MODES: readonly string[] = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'];
/** Those of libpq, and `no-verify` of the JavaScript driver: `require` without a certificate authority. */
const POSTGRES_SSL_MODES: readonly string[] = ['disable', 'allow', 'prefer', ...SSL_MODES.slice(1)];
/** PostgreSQL limits a name to 63 characters, and the names of a queue and its channels have a prefix. */
const SCHEMA = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,39}$/;
const SCHEMA_RULE =
  'at most 40 lower-case letters, digits and _, starting with a letter or _, and no schema of the system';

/** The database kind of a checked `DATABASE_URL`. */
export function databaseKind(url: string | undefined): DatabaseKind {
  return SERVER_KINDS[url?.slice(0, url.indexOf(':') + 1).toLowerCase() ?? ''] ?? 'sqlite';
}

/** `DATABASE_URL`. Messages contain no part of it: any part may be a malformed password. */
export function databaseUrl() {
  return z.string().transform((text, context) => {
    const fault = SQLITE_URL.test(text) ? undefined : databaseFault(text);
    if (fault === undefined) return text;
    context.addIssue({ code: 'custom', message: `is not allowed: ${fault}` });
    return z.NEVER;
  });
}

/** `DATABASE_SCHEMA`. */
export function databaseSchema() {
  return z.string().regex(SCHEMA, `must be ${SCHEMA_RULE}`);
}

/** The schema that the URL of a PostgreSQL names. */
export function schemaOfUrl(url: string | undefined): string | undefined {
  return databaseKind(url) === 'postgres' ? (new URL(url!).searchParams.get('schema') ?? undefined) : undefined;
}

/** `REDIS_URL`. */
export function redisUrl() {
  return z.string().transform((text, context) => {
    const url = URL.parse(text);
    const isRedis = url !== null && /^rediss?:$/.test(url.protocol);
    if (isRedis && url.hostname !== '' && /^\/?\d*$/.test(url.pathname) && url.hash === '') return text;
    context.addIssue({
      code: 'custom',
      message: `is not allowed: give redis://user:password@host:6379, or rediss:// for TLS, with nothing but a number after the host${isRedis ? ENCODE : ''}`,
    });
    return z.NEVER;
  });
}

const SESSION_STORES = ['database', 'memory', 'file', 'redis'] as const;

/** `SESSION_STORE`: a word, or the URL of a Redis or of a database. */
export function sessionStore() {
  return z.string().transform((text, context) => {
    if (SESSION_STORES.some((word) => word === text)) return text;
    const schema = /^rediss?:/i.test(text) ? redisUrl() : databaseUrl();
    const checked = schema.safeParse(text);
    if (checked.success) return text;
    const fault = text.includes(':') ? checked.error.issues[0]!.message : 'is not allowed';
    context.addIssue({ code: 'custom', message: `${fault}; give ${SESSION_STORES.join(', ')} or a URL` });
    return z.NEVER;
  });
}

/** The store of a checked `SESSION_STORE`. @param redis `REDIS_URL`, used for the word `redis` */
export function sessionStoreChoice(text: string, redis: string | undefined): SessionStoreChoice {
  if (text === 'redis') return { kind: 'redis', url: redis! };
  if (text === 'database') return { kind: 'own' };
  if (text === 'memory' || text === 'file') return { kind: text };
  return { kind: /^rediss?:/i.test(text) ? 'redis' : 'database', url: text };
}

const ENCODE = '; write special characters of a password encoded, as %40 for @ and %23 for #';

function databaseFault(text: string): string | undefined {
  const kind = databaseKind(text);
  if (kind === 'sqlite') {
    return 'leave it out, or give a SQLite file as sqlite:./path or sqlite:///absolute/path, without ~, or postgres://user:password@host/database, or mariadb://user:password@host/database';
  }
  const url = URL.parse(text);
  if (!url || url.hash !== '') return `it is no URL${ENCODE}`;
  if (url.hostname === '') return 'it names no host: give …//user:password@host/database';
  if (!/^\/[^/]+$/.test(url.pathname)) return 'it names no database: give …//user:password@host/database';
  if (![url.username, url.password, url.hostname, url.pathname].every(isEncoded)) return `it has a stray %${ENCODE}`;
  return kind === 'mariadb' ? mariadbFault(url.searchParams) : postgresFault(url.searchParams);
}

function postgresFault(params: URLSearchParams): string | undefined {
  const schema = params.get('schema');
  if (schema !== null && !SCHEMA.test(schema)) return `its schema must be ${SCHEMA_RULE}`;
  const mode = params.get('sslmode');
  if (mode === null) return undefined;
  if (!POSTGRES_SSL_MODES.includes(mode)) return `its sslmode must be one of ${POSTGRES_SSL_MODES.join(', ')}`;
  if (mode !== 'verify-ca' || params.has('sslrootcert')) return undefined;
  return 'its sslmode verify-ca needs sslrootcert, the file of the certificate authority: give it, or use verify-full';
}

function mariadbFault(params: URLSearchParams): string | undefined {
  if ([...params.keys()].some((name) => !MARIADB_PARAMS.includes(name))) {
    return `it accepts only the parameters ${MARIADB_PARAMS.join(' and ')}`;
  }
  const mode = params.get('sslmode');
  if (mode === null || SSL_MODES.includes(mode)) return undefined;
  return `its sslmode must be one of ${SSL_MODES.join(', ')}`;
}

function isEncoded(part: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(part);
}
