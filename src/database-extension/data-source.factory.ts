import { DataSource, type DataSourceOptions } from 'typeorm';

/** Maximum number of concurrent reads. */
const CONNECTIONS = 2;

/**
 * Creates a data source with the same settings, own connections and no entities. Session state left by a query cannot
 * reach other users of the database.
 * @param changes dialect-specific settings
 */
export function createOwnDataSource(
  options: DataSourceOptions,
  changes: object,
  connections = CONNECTIONS,
): DataSource {
  return new DataSource({
    ...options,
    entities: [],
    migrations: [],
    subscribers: [],
    synchronize: false,
    dropSchema: false,
    migrationsRun: false,
    cache: false,
    poolSize: connections,
    ...changes,
  } as DataSourceOptions);
}

/** Closes a data source, also a partly opened one: its driver may have connections even if `initialize` failed. */
export async function closeOwnDataSource(source: DataSource): Promise<void> {
  if (source.isInitialized) await source.destroy();
  else await source.driver.disconnect().catch(() => undefined);
}
