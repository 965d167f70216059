import type { Socket } from 'node:net';
import type { ConnectionOptions, Pool } from 'mysql2';
import type { Connection } from 'mysql2/promise';
import { loadPackage } from '../errors/index.js';
import { readText } from '../kernel/json/index.js';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { statementLimit } from './server-limits.policy.js';
import type { ServerUrl } from './server-url.parser.js';

/**
 * Backslashes escape, invalid values are errors, and the wait for a locked row is short. The comment is for MariaDB
 * only, so that an unsupported MySQL connects far enough to be reported.
 */
const sessionOf = (
  timeoutMs: number,
) => `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = ${Math.max(1, Math.floor(statementLimit(timeoutMs) / 1000))}
  /*M! , max_statement_time = ${statementLimit(timeoutMs) / 1000} */`;

export interface MariadbConnections {
  readonly pool: Pool;
  /** Opens a connection outside of the pool. */
  readonly connect: () => Promise<Connection>;
  /** Quotes a text. */
  readonly escape: (text: string) => string;
}

/** Creates a pool, which connects at its first use. The driver is imported only here. */
export async function createMariadbPool(
  url: ServerUrl,
  { poolSize, timeoutMs }: DatabaseConfig,
): Promise<MariadbConnections> {
  const options = { ...connectionOptions(url), connectTimeout: timeoutMs };
  const { default: mysql } = await loadPackage('mysql2', 'MariaDB', () => import('mysql2'));
  const pool = mysql.createPool({ ...options, connectionLimit: poolSize });
  pool.on('connection', (connection) => {
    // The pool handles the first error only; another one would end the process.
    connection.on('error', () => undefined);
    const unusable = (error: unknown) => error && connection.destroy();
    connection.query(sessionOf(timeoutMs), unusable);
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', unusable);
  });
  // Idle connections do not keep the process alive; connections in use do.
  pool.on('acquire', (connection) => streamOf(connection).ref());
  pool.on('release', (connection) => streamOf(connection).unref());
  const connect = async () => {
    const { default: promises } = await import('mysql2/promise');
    const connection = await promises.createConnection(options);
    streamOf((connection as unknown as { connection: object }).connection).unref();
    return connection;
  };
  return { pool, connect, escape: (text) => mysql.escape(text) };
}

/** The driver's types lack the socket of a connection. */
function streamOf(connection: object): Socket {
  return (connection as { stream: Socket }).stream;
}

function connectionOptions({ host, port, user, password, database, params }: ServerUrl): ConnectionOptions {
  const ssl = sslOptions(params);
  return {
    host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    // No column exceeds a safe integer; a sum of bigints is a DECIMAL.
    supportBigNumbers: true,
    bigNumberStrings: false,
    decimalNumbers: true,
    // Parse rows without generated code.
    disableEval: true,
    ...(ssl && { ssl }),
  };
}

/** PostgreSQL's parameter names, so that both URLs have the same form. */
function sslOptions(params: URLSearchParams): ConnectionOptions['ssl'] {
  const mode = params.get('sslmode') ?? 'disable';
  const authority = params.get('sslrootcert');
  if (mode === 'disable') return undefined;
  return { rejectUnauthorized: mode !== 'no-verify', ...(authority && { ca: readText(authority) }) };
}
