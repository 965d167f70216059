import { callbackify } from 'node:util';
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { loadPostgres, loadPostgresClient, type SessionParameters } from './postgres-client.factory.js';
import type { PostgresConnection, PostgresPlace } from './postgres-place.js';
import { SERVER_LIMITS, statementLimit } from './server-limits.policy.js';

/** A process that freezes inside a transaction of a migration holds its locks this long, in ms. */
const IDLE_TRANSACTION_MS = 30_000;
/** Time until a pool tries again to grow beyond the server's limit, in ms. */
const REGROW_MS = 10_000;
/** Time until the first keep-alive packet of an idle connection, in ms. */
const KEEP_ALIVE_MS = 10_000;
/** SQLSTATE of a reached limit of connections. */
const TOO_MANY = '53300';

type TypeId = (typeof import('pg').types.builtins)['INT8'];
type Callback = (error: Error | undefined, client: PoolClient | undefined, done: PoolClient['release']) => void;

/** Connections to PostgreSQL. */
export interface PostgresConnections {
  readonly pool: Pool;
  /** Opens a connection outside of the pool. */
  readonly createClient: () => Client;
}

/** Creates a pool, which connects at its first use. The driver is imported only here. */
export async function createPostgresPool(
  { schema, connection }: PostgresPlace,
  { poolSize, timeoutMs }: Pick<DatabaseConfig, 'poolSize' | 'timeoutMs'>,
): Promise<PostgresConnections> {
  const { types, escapeIdentifier } = await loadPostgres();
  const [PatientPool, PgClient] = await Promise.all([
    loadPatientPool(),
    loadPostgresClient({
      search_path: escapeIdentifier(schema),
      default_transaction_isolation: 'read committed',
      statement_timeout: String(statementLimit(timeoutMs)),
      lock_timeout: String(statementLimit(timeoutMs)),
      // A process that freezes during a migration loses its locks.
      idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_MS),
    }),
  ]);
  // PostgreSQL returns the sum of a bigint column as numeric.
  const numbers: readonly TypeId[] = [types.builtins.INT8, types.builtins.NUMERIC];
  const config: ClientConfig = {
    ...connection,
    fallback_application_name: 'jackdaw',
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    // For these connections only: other users of the driver in this process keep their parsers.
    types: {
      getTypeParser: ((id: TypeId, format: 'text') =>
        numbers.includes(id) ? Number : types.getTypeParser(id, format)) as typeof types.getTypeParser,
    },
  };
  const logger = new Log('PostgresPool');
  // Idle connections do not keep the process alive; connections in use do.
  const pool = new PatientPool({ ...config, Client: PgClient, max: poolSize, allowExitOnIdle: true });
  // The pool replaces a broken idle connection; without a listener its error would end the process.
  pool.on('error', (error) => logger.debug(`A connection to the database was lost: ${error.message}`));
  return { pool, createClient: () => new PgClient({ ...config, query_timeout: SERVER_LIMITS.startMs }) };
}

/**
 * A pool of its own for the run queue.
 * @param parameters those of its sessions
 */
export async function createSessionPool(
  connection: PostgresConnection,
  parameters: SessionParameters,
  size: number,
  name: string,
): Promise<Pool> {
  const [{ Pool: PgPool }, PgClient] = await Promise.all([loadPostgres(), loadPostgresClient(parameters)]);
  const pool = new PgPool({
    ...connection,
    Client: PgClient,
    max: size,
    fallback_application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // Without a listener an error of an idle connection would end the process.
  pool.on('error', () => undefined);
  return pool;
}

/** A pool that waits for one of its own connections while the server accepts no more. */
async function loadPatientPool(): Promise<typeof Pool> {
  const { default: pg } = await loadPostgres();
  return class extends pg.Pool {
    private readonly size = this.options.max;
    /** Open connections; `totalCount` includes those that are still connecting. */
    private opened = 0;
    private regrow: NodeJS.Timeout | undefined;

    constructor(config: PoolConfig) {
      super(config);
      this.on('connect', () => this.opened++);
      this.on('remove', () => this.opened--);
    }

    override connect(): Promise<PoolClient>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<PoolClient> | void {
      if (!callback) return this.acquire();
      callbackify(() => this.acquire())((error: Error | null, client?: PoolClient) =>
        callback(error ?? undefined, client, (release) => client?.release(release)),
      );
    }

    private async acquire(): Promise<PoolClient> {
      for (;;) {
        try {
          return await super.connect();
        } catch (error) {
          if ((error as { code?: unknown }).code !== TOO_MANY || this.opened === 0) throw error;
          this.stopGrowing();
        }
      }
    }

    private stopGrowing(): void {
      this.options.max = this.opened;
      clearTimeout(this.regrow);
      this.regrow = setTimeout(() => (this.options.max = this.size), REGROW_MS).unref();
    }
  };
}
