import type { Pool, RowDataPacket } from 'mysql2';
import { DataSource, EntitySchema, type QueryRunner } from 'typeorm';
import { AppError } from '../errors/index.js';
import type { DatabaseConfig } from '../config/namespaces/index.js';
import { initialiseDataSource } from './initialise-data-source.js';
import { MariadbDatabase } from './mariadb-database.js';
import { MariadbOwnerClient } from './mariadb-owner.client.js';
import { createMariadbPool, type MariadbConnections } from './mariadb-pool.factory.js';
import { MariadbTextBuilder } from './mariadb-text.builder.js';
import { migrate, MIGRATIONS, type MigrationLock } from './migration.executor.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { toServerFailure, unsuitableServer } from './server-failure.error.js';
import { statementLimit } from './server-limits.policy.js';
import { parseServerUrl, type ServerUrl } from './server-url.parser.js';

const OLDEST = [10, 6] as const;
const MIGRATION_WAIT_S = 600;

interface Settings {
  /** For example `10.11.6-MariaDB-1`. */
  readonly version: string;
  readonly flush: number;
}

/**
 * Opens a MariaDB database and migrates its schema. Without Redis only this process may write to it.
 * @throws AppError `CONFIG_INVALID` when the server or the database cannot be used, `DATABASE_LOCKED` when another
 *   process owns it
 */
export async function openMariadb(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const url = parseServerUrl(config, 3306);
  const connections = await createMariadbPool(url, config).catch((error: unknown) => {
    throw toServerFailure('MariaDB', url.name, error);
  });
  const { pool, escape } = connections;
  let owner: MariadbOwnerClient | null = null;
  try {
    const settings = await readSettings(pool);
    if (!isSupported(settings.version)) {
      const reason = `it is ${settings.version}, and MariaDB ${OLDEST.join('.')} or newer is needed`;
      throw unsuitableServer('MariaDB', url.name, reason);
    }
    owner = await takeOwnership(config, url, connections);
    const dataSource = await openDataSource(pool, url.database, config.timeoutMs, options);
    const database = new MariadbDatabase(pool, new MariadbTextBuilder(escape), owner, config.timeoutMs);
    const close = async () => {
      await database.close();
      await dataSource.destroy();
      await owner?.close();
    };
    return { database, dataSource, notifications: null, warnings: warningsOf(settings, url.name), close };
  } catch (error) {
    await owner?.close();
    await new Promise<void>((resolve) => pool.end(() => resolve()));
    throw toServerFailure('MariaDB', url.name, error);
  }
}

async function takeOwnership(
  config: DatabaseConfig,
  url: ServerUrl,
  { connect }: MariadbConnections,
): Promise<MariadbOwnerClient | null> {
  if (config.redisUrl !== undefined) return null;
  const owner = new MariadbOwnerClient(connect, url.name, url.database);
  await owner.take();
  return owner;
}

async function readSettings(pool: Pool): Promise<Settings> {
  const [[row]] = await pool
    .promise()
    .query<RowDataPacket[]>('SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS flush');
  return row as unknown as Settings;
}

/** MySQL speaks the same protocol, but has no compound statement outside of procedures. */
function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return /mariadb/i.test(version) && (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]));
}

function warningsOf({ flush }: Settings, name: string): string[] {
  if (flush === 1) return [];
  return [
    `The MariaDB database ${name} runs with innodb_flush_log_at_trx_commit = ${flush}: a crash of its machine loses answered requests.`,
  ];
}

/** TypeORM uses our pool, so that all connections share one pool with the same limits and types. */
async function openDataSource(
  pool: Pool,
  database: string,
  timeoutMs: number,
  options: PersistenceOptions,
): Promise<DataSource> {
  const { entities, migrations } = options;
  const dataSource = new DataSource({
    type: 'mariadb',
    database,
    driver: { createPool: () => pool },
    entities: entities.map((entity) => new EntitySchema(entity)),
    migrations: [...migrations],
    migrationsTableName: MIGRATIONS,
  });
  await initialiseDataSource(dataSource);
  await migrate(dataSource, migrationLock(database, timeoutMs), {
    name: `The MariaDB database ${database}`,
    remedy: 'name another database of its server in DATABASE_URL',
    options,
  });
  return dataSource;
}

/** Lifts the statement time limit for migrations, and for the wait for another node's migration. */
function migrationLock(database: string, timeoutMs: number): MigrationLock {
  // A short name per database: the server has one list of locks for all databases.
  const name = `CONCAT('jackdaw-schema:', MD5('${database.replaceAll("'", "''")}'))`;
  return {
    async take(runner: QueryRunner) {
      await runner.query('SET SESSION max_statement_time = 0');
      const rows: unknown = await runner.query(`SELECT GET_LOCK(${name}, ${MIGRATION_WAIT_S}) AS taken`);
      if ((rows as { taken: number }[])[0]?.taken === 1) return;
      throw new AppError(
        'DATABASE_LOCKED',
        `The schema of the MariaDB database ${database} has been changed by another process for ${MIGRATION_WAIT_S} s: check that process, then start again.`,
      );
    },
    async release(runner: QueryRunner) {
      await runner.query(`SELECT RELEASE_LOCK(${name})`);
      await runner.query(`SET SESSION max_statement_time = ${statementLimit(timeoutMs) / 1000}`);
    },
  };
}
