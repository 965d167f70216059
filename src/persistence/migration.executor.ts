import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';

/** Keeps other nodes that start at the same time waiting; on the connection of the migrations themselves. */
export interface MigrationLock {
  take(runner: QueryRunner): Promise<void>;
  release(runner: QueryRunner): Promise<void>;
}

/** A file has one owner. */
export const NO_MIGRATION_LOCK: MigrationLock = { take: async () => {}, release: async () => {} };

/** Brings the schema up to date. */
export async function migrate(dataSource: DataSource, lock: MigrationLock): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await lock.take(runner);
    try {
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'all';
      await executor.executePendingMigrations();
    } finally {
      // A connection that broke has no lock any more.
      await lock.release(runner).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}
