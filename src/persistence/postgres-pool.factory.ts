import type { Client as PgClient, ClientConfig, Pool as PgPool } from 'pg';
import { Log } from '../errors/index.js';
import { loadPostgres, loadPostgresClient } from './postgres-client.factory.js';
import type { PostgresPlace } from './postgres-place.js';
import { SERVER_LIMITS } from './server-limits.policy.js';

type TypeId = (typeof import('pg').types.builtins)['INT8'];

export interface PostgresConnections {
  readonly pool: PgPool;
  /** Opens a connection outside of the pool. */
  readonly createClient: () => PgClient;
}

/** Creates a pool, which connects at its first use. The driver is imported only here. @param size maximum connections */
export async function createPostgresPool(
  { schema, connection }: PostgresPlace,
  size: number,
): Promise<PostgresConnections> {
  const [{ Pool, types, escapeIdentifier }, Client] = await Promise.all([loadPostgres(), loadPostgresClient()]);
  // PostgreSQL returns the sum of a bigint column as numeric.
  const numbers: readonly TypeId[] = [types.builtins.INT8, types.builtins.NUMERIC];
  const options = [
    connection.options,
    String.raw`-c default_transaction_isolation=read\ committed`,
    `-c search_path=${escapeIdentifier(schema).replaceAll(/[\\ ]/g, String.raw`\$&`)}`,
  ];
  const config: ClientConfig = {
    ...connection,
    options: options.join(' ').trim(),
    fallback_application_name: 'jackdaw',
    connectionTimeoutMillis: SERVER_LIMITS.connectMs,
    statement_timeout: SERVER_LIMITS.statementMs,
    // A process that freezes during a migration loses its locks.
    idle_in_transaction_session_timeout: SERVER_LIMITS.statementMs,
    keepAlive: true,
    // For these connections only: other users of the driver in this process keep their parsers.
    types: {
      getTypeParser: ((id: TypeId, format: 'text') =>
        numbers.includes(id) ? Number : types.getTypeParser(id, format)) as typeof types.getTypeParser,
    },
  };
  const logger = new Log('PostgresPool');
  // Idle connections do not keep the process alive; connections in use do.
  const pool = new Pool({ ...config, Client, max: size, allowExitOnIdle: true });
  // The pool replaces a broken idle connection; without a listener its error would end the process.
  pool.on('error', (error) => logger.warn(`A connection to the database was lost: ${error.message}`));
  return { pool, createClient: () => new Client({ ...config, query_timeout: SERVER_LIMITS.connectMs }) };
}
