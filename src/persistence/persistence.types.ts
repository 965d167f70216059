import type { DataSource, EntitySchema, MigrationInterface } from 'typeorm';
import type { Database } from './database.js';
import type { NotificationChannel } from './notification-channel.js';

/**
 * The modules' parts of the schema: explicit lists, with migrations in the order of their timestamps. Schemas exist
 * only for the tables that `Database.table` reads and writes; the migrations create all tables.
 */
export interface PersistenceOptions {
  readonly entities: readonly EntitySchema[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

/** An open database with a migrated schema. */
export interface OpenPersistence {
  readonly database: Database;
  readonly dataSource: DataSource;
  /** `null` if the database has no notifications. */
  readonly notifications: NotificationChannel | null;
  /** Log lines about settings that make durability slow or void. */
  readonly warnings: readonly string[];
  /** Commits pending batches and closes all connections. */
  close(): Promise<void>;
}
