/** The database: TypeORM's connection and migrations, and batches that are durable as a whole or not at all. */

export { isRefusedAfter, isRefusedAtOnce, refusalOf } from './commit-refused.error.js';
export { processConnections, queueConnections } from './postgres.factory.js';
export { Database } from './database.js';
export { databaseName, migrateDatabase, readDatabaseStatus } from './database-status.js';
export type { DatabaseStatus } from './database-status.js';
export { inLists, type InList, Outbox, OutboxRelay } from './outbox.js';
export { KeyedQueue } from './keyed-queue.js';
export { NotificationChannel, type PersistenceOptions } from './persistence.types.js';
export { prepareFolder } from './open-failure.error.js';
export { sharePersistence } from './shared-persistence.registry.js';
export { PersistenceModule } from './persistence.module.js';
export { createSessionPool } from './postgres-pool.factory.js';
export { closeRedisClient, createRedisClient, loadRedis, unreference } from './redis-client.factory.js';
export { isStorageUnavailable } from './storage-fault.policy.js';
export { withPatience } from './storage-status.js';
export { withLongCalls } from './server-limits.policy.js';
export { initialiseDataSource } from './initialise-data-source.js';
export { serverFault } from './server-failure.error.js';
export { backUpSqlite, restoreSqlite } from './sqlite-backup.executor.js';
export { lockFile } from './sqlite-lock.factory.js';
