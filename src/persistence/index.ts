/** The one database: TypeORM's connection and migrations, and batches that are durable whole or not at all. */
export { isRefusedAtOnce, refusalOf } from './commit-refused.error.js';
export type { PersistenceOptions } from './data-source.factory.js';
export { Database, insert } from './database.js';
export type { SqlValue, Statement } from './database.js';
export { PersistenceModule } from './persistence.module.js';
