import type { DatabaseConfig } from '../config/index.js';
import type { OpenPersistence, PersistenceOptions } from './persistence.types.js';

/**
 * Opens the configured database and migrates its schema.
 * @throws AppError `CONFIG_INVALID` when it cannot be used, `DATABASE_LOCKED` when another process owns it
 */
export async function openPersistence(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  const opened = await open(config, options);
  opened.database.useDataSource(opened.dataSource);
  return opened;
}

/** TypeORM and the drivers are loaded here: the import of the package is 0.1 s shorter without them. */
async function open(config: DatabaseConfig, options: PersistenceOptions): Promise<OpenPersistence> {
  switch (config.kind) {
    case 'sqlite':
      return (await import('./sqlite.factory.js')).openSqlite(config, options);
    case 'postgres':
      return (await import('./postgres.factory.js')).openPostgres(config, options);
    case 'mariadb':
      return (await import('./mariadb.factory.js')).openMariadb(config, options);
  }
}
