import type { Client, ClientConfig, Client as PgClient, Pool as PgPool, Pool } from 'pg';
import { DataSource, EntitySchema, type QueryRunner } from 'typeorm';
import type { DatabaseConfig } from '../config/index.js';
import { Log } from '../errors/index.js';
import { initialiseDataSource } from './initialise-data-source.js';
import { migrate, type MigrationLock, type MigrationPlace, MIGRATIONS } from './migration.executor.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { loadPostgres, loadPostgresClient } from './postgres-client.factory.js';
import { PostgresDatabase } from './postgres-database.js';
import { PostgresNotificationChannel } from './postgres-notification-channel.js';
import { findPlace, type PostgresPlace } from './postgres-place.js';
import { toServerFailure, unsuitableServer } from './server-failure.error.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import { parseServerUrl } from './server-url.parser.js';

type TypeId = (typeof import('pg').types.builtins)['INT8'];

interface PostgresConnections {
  readonly pool: PgPool;
  /** Opens a connection outside of the pool. */
  readonly createClient: () => PgClient;
}

/** Creates a pool, which connects at its first use. The driver is imported only here. @param size maximum connections */
async function createPostgresPool({ schema, connection }: PostgresPlace, size: number): Promise<PostgresConnections> {
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

const OLDEST = 130_000;
/** An arbitrary number, used by no other lock; the second key is the schema, the scope is the database. */
const MIGRATION_LOCK = '5226324, hashtext(current_schema())';

interface Settings {
  readonly number: number;
  readonly version: string;
  readonly encoding: string;
  readonly fsync: string;
  readonly synchronous: string;
}

/**
 * Opens a PostgreSQL database and migrates its schema.
 * @throws AppError `CONFIG_INVALID` when the server or the database cannot be used
 */
export async function openPostgres(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const url = parseServerUrl(config, 5432);
  let settings: Settings | undefined;
  const check = async (client: Client) => {
    settings = await readSettings(client);
    const fault = faultOf(settings);
    if (fault) throw unsuitableServer('PostgreSQL', url.name, fault);
  };
  const names = options.migrations.map((Migration) => Migration.name);
  const place = await findPlace(config, url, names, check).catch((error: unknown) => {
    throw toServerFailure('PostgreSQL', url.name, error);
  });
  const { pool, createClient } = await createPostgresPool(place, config.poolSize);
  try {
    const dataSource = await openDataSource(pool, options, {
      name: `The schema ${place.schema} of the PostgreSQL database ${url.name}`,
      remedy: `set ${config.variableNames.DATABASE_SCHEMA} to another schema, which is created`,
    });
    const notifications = new PostgresNotificationChannel(pool, createClient, place.key);
    const database = new PostgresDatabase(pool, place);
    const close = async () => {
      await database.close();
      await notifications.close();
      await dataSource.destroy();
    };
    const warnings = warningsOf(settings!, url.name);
    return { database, dataSource, notifications, warnings, close };
  } catch (error) {
    if (!pool.ending) await pool.end();
    throw toServerFailure('PostgreSQL', url.name, error);
  }
}

async function readSettings(client: Client): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous`,
  );
  return rows[0]!;
}

function faultOf({ number, version, encoding }: Settings): string | undefined {
  if (number < OLDEST) return `it is ${version}, and PostgreSQL 13 or newer is needed`;
  if (encoding === 'UTF8') return undefined;
  return `its encoding is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`;
}

function warningsOf({ fsync, synchronous }: Settings, name: string): string[] {
  const off = [fsync === 'off' && 'fsync', synchronous === 'off' && 'synchronous_commit'].filter(Boolean);
  if (off.length === 0) return [];
  return [
    `The PostgreSQL database ${name} runs with ${off.join(' and ')} off: a crash of its machine loses answered requests.`,
  ];
}

/** TypeORM uses our pool, so that all connections share one pool with the same limits and types. */
async function openDataSource(
  pool: Pool,
  { entities, migrations }: PersistenceOptions,
  place: MigrationPlace,
): Promise<DataSource> {
  const driver = {
    Pool: function OurPool() {
      return pool;
    },
  };
  const dataSource = new DataSource({
    type: 'postgres',
    driver,
    entities: entities.map((entity) => new EntitySchema(entity)),
    migrations: [...migrations],
    migrationsTableName: MIGRATIONS,
    installExtensions: false,
  });
  await initialiseDataSource(dataSource);
  await migrate(dataSource, LOCK, place);
  return dataSource;
}

/** Lifts the statement time limit for migrations, and for the wait for another node's migration. */
const LOCK: MigrationLock = {
  async take(runner: QueryRunner) {
    await runner.query('SET statement_timeout = 0');
    await runner.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
  },
  async release(runner: QueryRunner) {
    await runner.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
    await runner.query('RESET statement_timeout');
  },
};
