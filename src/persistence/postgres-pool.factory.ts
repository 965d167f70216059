import { Logger } from '@nestjs/common';
import type { Client as PgClient, ClientConfig, Pool as PgPool } from 'pg';
import { loadPostgres, loadPostgresClient } from './postgres-client.factory.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import type { ServerUrl } from './server-url.parser.js';

type TypeId = (typeof import('pg').types.builtins)['INT8'];

export interface PostgresConnections {
  readonly pool: PgPool;
  /** Opens a connection outside of the pool. */
  readonly createClient: () => PgClient;
}

/** Creates a pool, which connects at its first use. The driver is imported only here. */
export async function createPostgresPool(
  connectionString: string,
  { params }: ServerUrl,
): Promise<PostgresConnections> {
  const [{ Pool, types }, Client] = await Promise.all([loadPostgres(), loadPostgresClient()]);
  // PostgreSQL returns the sum of a bigint column as numeric.
  const numbers: readonly TypeId[] = [types.builtins.INT8, types.builtins.NUMERIC];
  const url = new URL(connectionString);
  // The URL's `options` would override the ones below.
  url.searchParams.delete('options');
  const options = [params.get('options') ?? '', String.raw`-c default_transaction_isolation=read\ committed`];
  const config: ClientConfig = {
    connectionString: url.href,
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
  const logger = new Logger('PostgresPool');
  const pool = new Pool({ ...config, Client, max: SERVER_LIMITS.connections });
  // The pool replaces a broken idle connection; without a listener its error would end the process.
  pool.on('error', (error) => logger.warn(`A connection to the database was lost: ${error.message}`));
  return { pool, createClient: () => new Client({ ...config, query_timeout: SERVER_LIMITS.connectMs }) };
}
