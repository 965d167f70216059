import { createHash } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { Client } from 'pg';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { readText } from '../kernel/json/index.js';
import { LEGACY_MIGRATIONS, MIGRATIONS } from './migration.executor.js';
import { loadPostgresClient } from './postgres-client.factory.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import type { ServerUrl } from './server-url.parser.js';

type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full' | 'no-verify';

/** TLS of a connection; `false` without. */
type PostgresSsl = ConnectionOptions | false;

/** Parameters of the URL that `sslChoicesOf` reads. */
const SSL_PARAMS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const;

/**
 * The transports that `sslmode` allows, in the order in which to try them; empty without `sslmode`.
 * The modes are those of libpq (https://www.postgresql.org/docs/current/libpq-ssl.html): `require` checks the
 * certificate only if `sslrootcert` names an authority, and only `verify-full` checks the host name.
 */
function sslChoicesOf(params: URLSearchParams): readonly PostgresSsl[] {
  const files = {
    ...(params.has('sslrootcert') && { ca: readText(params.get('sslrootcert')!) }),
    ...(params.has('sslcert') && { cert: readText(params.get('sslcert')!) }),
    ...(params.has('sslkey') && { key: readText(params.get('sslkey')!) }),
  };
  const unverified = { ...files, rejectUnauthorized: false };
  // The name is that of the certificate: a mismatch is no error.
  const ofAuthority = { ...files, checkServerIdentity: () => undefined };
  switch (params.get('sslmode') as SslMode | null) {
    case 'disable':
      return [false];
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'require':
      return [params.has('sslrootcert') ? ofAuthority : unverified];
    case 'verify-ca':
      return [ofAuthority];
    case 'verify-full':
      return [files];
    case 'no-verify':
      return [unverified];
    case null:
      return params.has('sslrootcert') || params.has('sslcert') || params.has('sslkey') ? [files] : [];
  }
}

/** The address, the credentials and the transport of each connection. */
export interface PostgresConnection {
  readonly connectionString: string;
  /** Those of the URL; each connection adds its own. */
  readonly options: string;
  readonly ssl?: PostgresSsl;
}

/** The location of the tables in a PostgreSQL database. */
export interface PostgresPlace {
  readonly schema: string;
  /** The schema's part of names that all schemas of the database share, at most 40 characters. */
  readonly key: string;
  readonly connection: PostgresConnection;
}

function keyOf(schema: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) return schema;
  return `s${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
}

/** The schema of new installations in a host's database. */
const HOST_SCHEMA = 'jackdaw';
/** Errors of a transport that the server does not accept: another one may work. */
const NO_TRANSPORT = /does not support SSL|no pg_hba\.conf entry|SSL|TLS|certificate|EPROTO/i;

/**
 * Connects once, to find the transport and the schema, which is created if it is missing.
 * @param check fails if the server is unsuitable, before anything is created
 * @param names the migrations, by which an installation is recognised
 * @throws AppError `CONFIG_INVALID` if the user may not create the schema
 */
export async function findPlace(
  config: DatabaseConfig,
  { params }: ServerUrl,
  names: readonly string[],
  check: (client: Client, open: () => Promise<Client>) => Promise<void>,
): Promise<PostgresPlace> {
  const url = new URL(config.url!);
  // In the URL, `options` would override those of the configuration; the driver reads other rules from `sslmode`.
  for (const name of ['options', 'schema', ...SSL_PARAMS]) url.searchParams.delete(name);
  const connection: PostgresConnection = { connectionString: url.href, options: params.get('options') ?? '' };
  const [client, used] = await connect(connection, sslChoicesOf(params));
  try {
    await check(client, () => openClient(used));
    const wanted = params.get('schema') ?? config.schema;
    const schema = wanted ?? (await defaultSchema(client, config, names));
    if (wanted !== undefined || schema === HOST_SCHEMA) await ensureSchema(client, schema, config);
    return { schema, key: keyOf(schema), connection: used };
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect(
  connection: PostgresConnection,
  choices: readonly PostgresSsl[],
): Promise<[client: Client, used: PostgresConnection]> {
  const all: PostgresConnection[] =
    choices.length === 0 ? [connection] : choices.map((ssl) => ({ ...connection, ssl }));
  for (const [at, used] of all.entries()) {
    try {
      return [await openClient(used), used];
    } catch (error) {
      if (at === all.length - 1 || !NO_TRANSPORT.test(String(error))) throw error;
    }
  }
  throw new Error('unreachable');
}

async function openClient(connection: PostgresConnection): Promise<Client> {
  const PgClient = await loadPostgresClient();
  const limits = { connectionTimeoutMillis: SERVER_LIMITS.startMs, query_timeout: SERVER_LIMITS.startMs };
  const client = new PgClient({ ...connection, ...limits });
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** An installation stays where it is; a new one of a host gets a schema of its own. */
async function defaultSchema(
  client: Client,
  { hasOwnSchema, variableNames: { DATABASE_SCHEMA } }: DatabaseConfig,
  names: readonly string[],
): Promise<string> {
  const { rows } = await client.query<{ schema: string | null }>('SELECT current_schema() AS schema');
  const current = rows[0]!.schema;
  if (hasOwnSchema) {
    if (current === null || (await isInstalled(client, HOST_SCHEMA, names))) return HOST_SCHEMA;
    return (await isInstalled(client, current, names)) ? current : HOST_SCHEMA;
  }
  if (current !== null) return current;
  throw new AppError(
    'CONFIG_INVALID',
    `The database has no schema of its user's search path: set ${DATABASE_SCHEMA}, for example to jackdaw.`,
  );
}

async function isInstalled(client: Client, schema: string, names: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = $1 AND (table_name = $2 OR (table_name = $3 AND column_name = 'name'))`,
    [schema, MIGRATIONS, LEGACY_MIGRATIONS],
  );
  if (rows.length === 0) return false;
  if (rows.some(({ name }) => name === MIGRATIONS)) return true;
  const found = await client.query(
    `SELECT 1 FROM ${client.escapeIdentifier(schema)}.${LEGACY_MIGRATIONS} WHERE name = ANY($1::text[]) LIMIT 1`,
    [names],
  );
  return found.rowCount === 1;
}

const NO_RIGHT = '42501';
/** Errors of a schema that another process has just created. */
const EXISTS: readonly unknown[] = ['42P06', '23505'];

async function ensureSchema(
  client: Client,
  schema: string,
  { variableNames: { DATABASE_SCHEMA } }: DatabaseConfig,
): Promise<void> {
  // `IF NOT EXISTS` needs the right to create a schema also if it exists.
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount === 1) return;
  try {
    await client.query(`CREATE SCHEMA ${client.escapeIdentifier(schema)}`);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (EXISTS.includes(code)) return;
    if (code !== NO_RIGHT) throw error;
    const user = client.user ?? '';
    throw new AppError(
      'CONFIG_INVALID',
      `The user ${user} may not create the schema ${schema} in the database ${client.database ?? ''}: have it created (CREATE SCHEMA ${schema} AUTHORIZATION ${user}), or name a schema of the user in ${DATABASE_SCHEMA}.`,
      { cause: error },
    );
  }
}
