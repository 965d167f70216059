/** The database: TypeORM's connection and migrations, and batches that are durable as a whole or not at all. */
export { bigintColumn, integerColumn, stringColumn, textColumn } from './column.factory.js';
export type { ColumnDefinition, ColumnOptions } from './column.factory.js';
export { isRefusedAfter, isRefusedAtOnce, refusalOf } from './commit-refused.error.js';
export { Database } from './database.js';
export { inLists } from './in-list.factory.js';
export type { InList } from './in-list.factory.js';
export { NotificationChannel } from './notification-channel.js';
export { sharePersistence } from './shared-persistence.registry.js';
export { PersistenceModule } from './persistence.module.js';
export type { PersistenceOptions } from './persistence.types.js';
export { loadPostgresClient } from './postgres-client.factory.js';
export { closeRedisClient, createRedisClient } from './redis-client.factory.js';
export { SchemaBuilder } from './schema.builder.js';
export type { IndexDefinition, TableDefinition } from './schema.builder.js';
export { serverFault } from './server-failure.error.js';
export { lockFile } from './sqlite-lock.factory.js';
export { insert, insertAll, insertMany } from './statement.factory.js';
export type { CommitOptions, Dialect, Row, SqlValue, Statement } from './statement.types.js';
