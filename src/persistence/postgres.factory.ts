import type { Client, Pool } from 'pg';
import { DataSource, EntitySchema, type QueryRunner } from 'typeorm';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { initialiseDataSource } from './initialise-data-source.js';
import { migrate, type MigrationLock, type MigrationPlace, MIGRATIONS } from './migration.executor.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { PostgresDatabase } from './postgres-database.js';
import { PostgresNotificationChannel } from './postgres-notification-channel.js';
import { findPlace } from './postgres-place.js';
import { createPostgresPool } from './postgres-pool.factory.js';
import { poolerFault } from './postgres-pooler.js';
import { toServerFailure, unsuitableServer } from './server-failure.error.js';
import { statementLimit } from './server-limits.policy.js';
import { parseServerUrl } from './server-url.parser.js';

type Counted = Pick<DatabaseConfig, 'poolSize' | 'redisUrl' | 'keepsProcess'>;

/** A smaller pool for statements shows that connections are scarce. */
const AMPLE_POOL = 8;

/** Connections of the run queue to PostgreSQL; one of them listens. */
export function queueConnections({ poolSize, redisUrl, keepsProcess }: Counted): number {
  if (redisUrl !== undefined || !keepsProcess) return 0;
  return poolSize < AMPLE_POOL ? 2 : 3;
}

/** Maximum connections of a process to PostgreSQL: for statements, for notifications and for the run queue. */
export function processConnections(config: Counted): number {
  return config.poolSize + (config.redisUrl === undefined ? 1 : 0) + queueConnections(config);
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
  /** Limits of connections: of the role and of the database (-1 without), and of the server without the reserved ones. */
  readonly limits: readonly [role: number, database: number, server: number];
}

/**
 * Opens a PostgreSQL database and migrates its schema.
 * @throws AppError `CONFIG_INVALID` when the server or the database cannot be used
 */
export async function openPostgres(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const url = parseServerUrl(config, 5432);
  let settings: Settings | undefined;
  const check = async (client: Client, open: () => Promise<Client>) => {
    settings = await readSettings(client);
    const fault = faultOf(settings) ?? (await poolerFault(client, url.params.get('options') ?? '', open));
    if (fault) throw unsuitableServer('PostgreSQL', url.name, fault);
  };
  const names = options.migrations.map((Migration) => Migration.name);
  const place = await findPlace(config, url, names, check).catch((error: unknown) => {
    throw toServerFailure('PostgreSQL', url.name, error);
  });
  const { pool, createClient } = await createPostgresPool(place, config);
  try {
    const dataSource = await openDataSource(
      pool,
      options,
      {
        name: `The schema ${place.schema} of the PostgreSQL database ${url.name}`,
        remedy: `set ${config.variableNames.DATABASE_SCHEMA} to another schema, which is created`,
        options,
      },
      config.timeoutMs,
    );
    const notifications = new PostgresNotificationChannel(pool, createClient, place.key, config.timeoutMs);
    // The run bus needs it; a refused connection stops the start here, with its cause.
    if (config.redisUrl === undefined && !options.isPart) await notifications.connect();
    const database = new PostgresDatabase(pool, place, config.timeoutMs);
    const close = async () => {
      await database.close();
      await notifications.close();
      await dataSource.destroy();
    };
    const warnings = warningsOf(settings!, url.name, processConnections(config));
    return { database, dataSource, notifications, warnings, close };
  } catch (error) {
    if (!pool.ending) await pool.end();
    throw toServerFailure('PostgreSQL', url.name, error);
  }
}

async function readSettings(client: Client): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous,
      ARRAY[
        (SELECT CASE WHEN rolsuper THEN -1 ELSE rolconnlimit END FROM pg_roles WHERE rolname = current_user),
        (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
      ] AS limits`,
  );
  return rows[0]!;
}

function faultOf({ number, version, encoding }: Settings): string | undefined {
  if (number < OLDEST) return `it is ${version}, and PostgreSQL 13 or newer is needed`;
  if (encoding === 'UTF8') return undefined;
  return `its encoding is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`;
}

function warningsOf({ fsync, synchronous, limits }: Settings, name: string, needed: number): string[] {
  const off = [fsync === 'off' && 'fsync', synchronous === 'off' && 'synchronous_commit'].filter(Boolean);
  const scarce = ['CONNECTION LIMIT of the role', 'CONNECTION LIMIT of the database', 'max_connections'].find(
    (_limit, at) => limits[at]! >= 0 && limits[at]! < needed,
  );
  return [
    ...(off.length > 0
      ? [
          `The PostgreSQL database ${name} runs with ${off.join(' and ')} off: a crash of its machine loses answered requests.`,
        ]
      : []),
    ...(scarce === undefined
      ? []
      : [
          `The PostgreSQL database ${name} has too few connections: this process opens up to ${needed}, more than the ${scarce} allows. Raise it, or lower DATABASE_POOL_SIZE.`,
        ]),
  ];
}

/** TypeORM uses our pool, so that all connections share one pool with the same limits and types. */
async function openDataSource(
  pool: Pool,
  { entities, migrations }: PersistenceOptions,
  place: MigrationPlace,
  timeoutMs: number,
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
  await migrate(dataSource, migrationLock(timeoutMs), place);
  return dataSource;
}

/** Lifts the statement time limit for migrations, and for the wait for another node's migration. */
function migrationLock(timeoutMs: number): MigrationLock {
  return {
    async take(runner: QueryRunner) {
      await runner.query('SET statement_timeout = 0');
      await runner.query('SET lock_timeout = 0');
      await runner.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
    },
    async release(runner: QueryRunner) {
      await runner.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
      await runner.query(`SET statement_timeout = ${statementLimit(timeoutMs)}`);
      await runner.query(`SET lock_timeout = ${statementLimit(timeoutMs)}`);
    },
  };
}
