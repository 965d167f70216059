import { DataSource, type DataSourceOptions } from 'typeorm';

/** Reads that go on at the same time. */
const CONNECTIONS = 2;

/**
 * A data source with the same settings but connections of its own, without the entities: what a query leaves behind on a
 * connection meets nobody else.
 * @param changes of the dialect
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

/** Closes it, also when it was opened by half: its driver may have connections although it could not be used. */
export async function closeOwnDataSource(source: DataSource): Promise<void> {
  if (source.isInitialized) await source.destroy();
  else await source.driver.disconnect().catch(() => undefined);
}
