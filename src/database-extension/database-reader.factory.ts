import type { DataSource, DataSourceOptions } from 'typeorm';
import type { DatabaseReader } from './database-reader.js';
import { unsuitable } from './read.error.js';

type Make = (options: DataSourceOptions) => Promise<DatabaseReader>;

const mariadb: Make = async (options) => {
  const { MariadbDatabaseReader } = await import('./mariadb-database-reader.js');
  return new MariadbDatabaseReader(options);
};

const READERS = new Map<DataSourceOptions['type'], Make>([
  ['mariadb', mariadb],
  // A MariaDB data source may have the type mysql.
  ['mysql', mariadb],
  [
    'postgres',
    async (options) => {
      const { PostgresDatabaseReader } = await import('./postgres-database-reader.js');
      return new PostgresDatabaseReader(options);
    },
  ],
  [
    'better-sqlite3',
    async (options) => {
      const { SqliteDatabaseReader } = await import('./sqlite-database-reader.js');
      return new SqliteDatabaseReader(options);
    },
  ],
]);

/**
 * Creates the reader for a kind of database, and imports its code then. @throws AppError `CONFIG_INVALID` for an
 * unsupported kind
 */
export async function createReader(source: DataSource | DataSourceOptions): Promise<DatabaseReader> {
  const options = 'createQueryRunner' in source ? source.options : source;
  const make = READERS.get(options.type);
  if (!make)
    throw unsuitable(`its type is "${options.type}", but only postgres, mariadb and better-sqlite3 are supported.`);
  return make(options);
}
