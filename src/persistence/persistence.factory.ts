import type { DatabaseConfig } from '../config/index.js';
import { openMariadb } from './mariadb.factory.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';
import { openPostgres } from './postgres.factory.js';
import { openSqlite } from './sqlite.factory.js';

/**
 * Opens the configured database and migrates its schema.
 * @throws AppError `CONFIG_INVALID` when it cannot be used, `DATABASE_LOCKED` when another process owns it
 */
export async function openPersistence(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const opened = await open(config, options);
  opened.database.useDataSource(opened.dataSource);
  return opened;
}

function open(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  switch (config.kind) {
    case 'sqlite':
      return openSqlite(config, options);
    case 'postgres':
      return openPostgres(config, options);
    case 'mariadb':
      return openMariadb(config, options);
  }
}
