import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';

/** Makes other nodes that start at the same time wait; held on the connection of the migrations. */
export interface MigrationLock {
  take(runner: QueryRunner): Promise<void>;
  release(runner: QueryRunner): Promise<void>;
}

/** For a file, which has one owner. */
export const NO_MIGRATION_LOCK: MigrationLock = { take: async () => {}, release: async () => {} };

/** Migrates the schema. */
export async function migrate(dataSource: DataSource, lock: MigrationLock): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await lock.take(runner);
    try {
      const executor = new MigrationExecutor(dataSource, runner);
      executor.transaction = 'all';
      await executor.executePendingMigrations();
    } finally {
      // A broken connection has lost its lock already.
      await lock.release(runner).catch(() => undefined);
    }
  } finally {
    await runner.release();
  }
}
